import Foundation
import TestSupport

/// Sources in a separate folder that the compiler indexes.
struct CompiledSources {
    let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")

    /// Whether tests may spend the time for compiling.
    static let areWanted = isDeep

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func write(_ text: String, to path: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Compiles a module, and writes its index to a store. Returns false if there is no compiler, for example if only
    /// the built tests were copied to the machine.
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
