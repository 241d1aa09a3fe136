import Foundation
import Testing

/// Detects the first time that a file of a folder is opened after this object was created. On platforms without
/// inotify, the file counts as opened from the beginning.
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

    /// Blocks the calling thread until a file is opened.
    func wait() {
        if events < 0 { return }
        // The buffer holds one event with a name of the maximum length. Its contents are ignored.
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            _ = read(events, buffer.baseAddress, buffer.count)
        }
    }
}
