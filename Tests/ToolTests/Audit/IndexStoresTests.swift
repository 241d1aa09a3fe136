import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("Several index stores", .inTurns, .enabled(if: CompiledSources.areWanted))
struct IndexStoresTests {
    private let sources = CompiledSources()

    private static let text = """
        import Foundation
        typealias Lines = OperationQueue
        func f(_ lines: Lines) { lines.addOperation {} }
        """

    @Test("A file that two stores know is judged once")
    func twice() throws {
        defer { sources.remove() }
        try sources.write(Self.text, to: "App/Lines.swift")
        guard try sources.compile("App", "Lines.swift", store: "one") else { return }
        _ = try sources.compile("App", "Lines.swift", store: "two")
        let one = result(of: ["one"])
        let both = result(of: ["one", "two"])
        #expect(!one.findings.isEmpty)
        #expect(both.findings.map(\.pattern.id) == one.findings.map(\.pattern.id))
        #expect(both.index?.stores.count == 2 && both.index?.files == 1)
    }

    @Test("A file is stale only if every store that knows it is older")
    func stale() throws {
        defer { sources.remove() }
        try sources.write(Self.text, to: "App/Lines.swift")
        guard try sources.compile("App", "Lines.swift", store: "old") else { return }
        // The time of a store is that of the files in it.
        try sources.write(Self.text, to: "App/Lines.swift")
        let now = Date.now
        try FileManager.default.setAttributes(
            [.modificationDate: now.addingTimeInterval(10)],
            ofItemAtPath: sources.folder.appending(path: "App/Lines.swift").path)
        #expect(result(of: ["old"]).index?.stale.count == 1)
        try FileManager.default.setAttributes(
            [.modificationDate: now.addingTimeInterval(-10)],
            ofItemAtPath: sources.folder.appending(path: "App/Lines.swift").path)
        _ = try sources.compile("App", "Lines.swift", store: "new")
        for unit in try units(of: "old") {
            try FileManager.default.setAttributes(
                [.modificationDate: now.addingTimeInterval(-20)], ofItemAtPath: unit)
        }
        #expect(result(of: ["old"]).index?.stale.count == 1)
        let both = result(of: ["old", "new"])
        #expect(both.index?.stale == [] && both.notes.isEmpty)
    }

    private func result(of stores: [String]) -> AuditResult {
        var auditor = Auditor(paths: [sources.folder.appending(path: "App").path])
        auditor.indexStores = stores.map { sources.folder.appending(path: $0).path }
        return auditor.result()
    }

    private func units(of store: String) throws -> [String] {
        let folder = sources.folder.appending(path: store)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.contains("units/") }.map { folder.appending(path: $0).path }
    }
}
