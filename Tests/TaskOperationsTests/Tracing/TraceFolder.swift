import Foundation

/// A folder that is removed when the object is freed.
final class TraceFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// The path of a file in the folder.
    subscript(name: String) -> String { url.appending(path: name).path }

    deinit { try? FileManager.default.removeItem(at: url) }
}
