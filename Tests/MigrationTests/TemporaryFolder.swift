import Foundation
import Testing

/// A folder for one test, which is removed when the test ends.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "migration-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, and creates the folders that contain it.
    func write(_ contents: [UInt8], to name: String) throws {
        let file = URL(fileURLWithPath: self / name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(contents).write(to: file)
    }

    func write(_ contents: String, to name: String) throws {
        try write(Array(contents.utf8), to: name)
    }

    /// Creates a file of `count` zeros that occupies no disk space.
    func writeZeros(_ count: Int, to name: String) throws {
        try write("", to: name)
        try #require(truncate(self / name, off_t(count)) == 0)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: self / name)
    }

    func link(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self / name, withDestinationPath: destination)
    }

    /// Creates a pipe without a writer. A blocking reader would wait forever.
    func makePipe(_ name: String) throws {
        try #require(mkfifo(self / name, 0o600) == 0)
    }

    /// Creates entries that no user can read. Returns their paths in order.
    func makeUnreadableEntries() throws -> [String] {
        try link("dangling", to: "nowhere")
        try link("loop1", to: "loop2")
        try link("loop2", to: "loop1")
        try makePipe("pipe")
        return ["dangling", "loop1", "loop2", "pipe"].map { self / $0 }
    }

    static func / (folder: TemporaryFolder, name: String) -> String {
        folder.path + "/" + name
    }
}
