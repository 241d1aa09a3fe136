import Foundation

/// A folder that is removed when the object is freed.
final class TraceFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    subscript(name: String) -> URL { url.appending(path: name) }

    deinit { try? FileManager.default.removeItem(at: url) }
}
