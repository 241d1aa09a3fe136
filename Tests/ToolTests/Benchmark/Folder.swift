import Foundation

/// A folder for one test, which is removed when the test ends.
final class Folder: Sendable {
    private let path: String

    init() throws {
        path = NSTemporaryDirectory() + "benchmark-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func text(of name: String) throws -> String { try String(contentsOfFile: self / name, encoding: .utf8) }

    static func / (folder: Folder, name: String) -> String { folder.path + "/" + name }
}
