import Foundation
import TaskOperationsExpectations

/// Sources in a folder of their own, which the compiler indexes.
struct CompiledSources {
    let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")

    /// Whether tests may take the time to compile.
    static let areWanted = isDeep

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func write(_ text: String, to path: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Compiles a module with an index into a store. Returns false without a compiler, as where only the tests were brought.
    func compile(_ module: String, _ file: String, store: String = "store") throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.currentDirectoryURL = folder
        process.arguments = [
            "swiftc", "-swift-version", "5", "-parse-as-library", "-emit-module", "-module-name", module,
            "-emit-module-path", "\(module).swiftmodule", "-index-store-path", store, "-I", ".", "-c",
            "\(module)/\(file)", "-o", "\(module).o",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
