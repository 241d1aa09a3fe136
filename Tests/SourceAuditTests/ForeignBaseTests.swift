import Foundation
import Testing

@testable import SourceAudit

@Suite("Classes of other packages")
struct ForeignBaseTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")

    private static let isDeep = ProcessInfo.processInfo.environment["TASK_OPERATIONS_DEEP"] != nil

    @Test(
        "A class that inherits from an operation over classes of another module is an operation by the index",
        .enabled(if: isDeep))
    func throughAnotherModule() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(
            """
            import Foundation
            open class Root: Operation, @unchecked Sendable {}
            open class AsyncBase: Root, @unchecked Sendable {}
            """, to: "Dependency/Base.swift")
        try write(
            """
            import Dependency
            final class Fetch: AsyncBase, @unchecked Sendable { override func main() {} }
            func f(_ fetch: Fetch, _ before: Fetch) { fetch.addDependency(before) }
            """, to: "App/Fetch.swift")
        guard try compile("Dependency", "Base.swift"), try compile("App", "Fetch.swift") else { return }
        var auditor = Auditor(paths: [folder.appending(path: "App").path])
        auditor.usesIndex = false
        let named = auditor.result().findings
        #expect(named.map(\.pattern.id) == ["operation-dependency"] && named.map(\.certainty) == [.likely])
        auditor.usesIndex = true
        auditor.indexStores = [folder.appending(path: "store").path]
        let found = auditor.result().findings
        #expect(found.map(\.pattern.id) == ["operation-subclass", "operation-dependency"])
        #expect(found.allSatisfy { $0.certainty == .certain })
    }

    private func write(_ text: String, to path: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    /// Compiles a module with an index. Returns false without a compiler, as where only the tests were brought.
    private func compile(_ module: String, _ file: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.currentDirectoryURL = folder
        process.arguments = [
            "swiftc", "-swift-version", "5", "-parse-as-library", "-emit-module", "-module-name", module,
            "-emit-module-path", "\(module).swiftmodule", "-index-store-path", "store", "-I", ".", "-c",
            "\(module)/\(file)", "-o", "\(module).o",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
