import Foundation
import Testing

/// The first time that a file of a folder is opened after this was created. On platforms without inotify it counts as
/// opened from the start.
final class FileOpening: Sendable {
    private let events: Int32

    init(in folder: String) throws {
        #if os(Linux)
            events = inotify_init1(CInt(IN_CLOEXEC))
            try #require(events >= 0)
            try #require(inotify_add_watch(events, folder, UInt32(IN_OPEN)) >= 0)
        #else
            events = -1
        #endif
    }

    deinit { if events >= 0 { close(events) } }

    /// Blocks the calling thread until then.
    func wait() {
        if events < 0 { return }
        // An event and the longest name it can carry. Its contents do not matter.
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            _ = read(events, buffer.baseAddress, buffer.count)
        }
    }
}
