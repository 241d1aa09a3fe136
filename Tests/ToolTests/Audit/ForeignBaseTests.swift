import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("Classes of other packages", .inTurns)
struct ForeignBaseTests {
    private let sources = CompiledSources()

    @Test(
        "A class that inherits from an operation over classes of another module is an operation by the index",
        .enabled(if: CompiledSources.areWanted))
    func throughAnotherModule() throws {
        defer { sources.remove() }
        try sources.write(
            """
            import Foundation
            open class Root: Operation, @unchecked Sendable {}
            open class AsyncBase: Root, @unchecked Sendable {}
            """, to: "Dependency/Base.swift")
        try sources.write(
            """
            import Dependency
            final class Fetch: AsyncBase, @unchecked Sendable { override func main() {} }
            func f(_ fetch: Fetch, _ before: Fetch) { fetch.addDependency(before) }
            """, to: "App/Fetch.swift")
        guard try sources.compile("Dependency", "Base.swift"), try sources.compile("App", "Fetch.swift") else { return }
        var auditor = Auditor(paths: [sources.folder.appending(path: "App").path])
        auditor.usesIndex = false
        let named = auditor.result().findings.filter { $0.pattern.id != "checking-unchecked" }
        #expect(named.map(\.pattern.id) == ["operation-dependency"] && named.map(\.certainty) == [.likely])
        auditor.usesIndex = true
        auditor.indexStores = [sources.folder.appending(path: "store").path]
        let found = auditor.result().findings.filter { $0.pattern.id != "checking-unchecked" }
        #expect(found.map(\.pattern.id) == ["operation-subclass", "operation-dependency"])
        #expect(found.allSatisfy { $0.certainty == .certain })
    }
}
