import Foundation
import TestSupport
import Testing

@testable import SourceAudit

@Suite("Names of the old code in the guide", .inTurns)
struct GuideNamesTests {
    /// Types of Foundation that the old code uses for other purposes, and the name of the module.
    private static let others: Set<String> = ["NSArray", "NSObject", "NSKeyValueChangeKey", "Dispatch"]

    @Test("Every name of Foundation, Dispatch and threads that the old code uses leads to a row of a table")
    func names() throws {
        let names = try Self.usedNames()
        #expect(names.count > 100)
        let rows = try Self.rows()
        for name in names.sorted() { #expect(rows.contains(name), "no row names \(name)") }
    }

    @Test(
        "Names that readers look for lead to a row",
        arguments: [
            "removeDependency", "isReady", "performSelectorInBackground", "dispatch_group_leave", "pthread_mutex_lock",
            "NSDistributedLock", "BGTaskScheduler", "DispatchIO", "QueuePriority", "waitUntilExit",
        ])
    func soughtNames(name: String) throws {
        #expect(try Self.rows().contains(name))
    }

    /// The names of patterns and system types in the old code, and all that begin as names of C do.
    private static func usedNames() throws -> Set<String> {
        var known = Set(SystemType.allCases.map(\.rawValue) + SystemType.otherNames.map(\.0))
        for pattern in Patterns.all where pattern.family != .ported {
            for shape in pattern.shapes {
                switch shape {
                case .member(let names, _, _), .function(let names, _), .message(let names, _, _):
                    known.formUnion(names)
                case .made, .named, .analysis: break
                }
            }
        }
        known.subtract(["BridgedOperationQueue", "TaskOperationQueue", "TaskOperation", "AnyTaskOperation"])
        let beginnings = ["dispatch_", "pthread_", "sem_", "os_", "OSAtomic", "CFRunLoop", "Dispatch"]
        var used: Set<String> = []
        let folder = Guide.package.appending(path: "Sources/MigrationExamples/Legacy")
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            for name in text.matches(of: /[A-Za-z_][A-Za-z0-9_]+/).map({ String($0.output) }) {
                let isSystem =
                    beginnings.contains { name.hasPrefix($0) } || name.wholeMatch(of: /NS[A-Z]\w+/) != nil
                if known.contains(name) || isSystem { used.insert(name) }
            }
        }
        return used.subtracting(others)
    }

    /// The words in the first cells of the tables of the guide and of the page of members.
    private static func rows() throws -> Set<String> {
        var words: Set<String> = []
        for path in ["Migration.md", "Sources/TaskOperations/TaskOperations.docc/Members.md"] {
            let text = try String(contentsOf: Guide.package.appending(path: path), encoding: .utf8)
            for line in text.split(separator: "\n") where line.hasPrefix("|") {
                let cell = line.dropFirst().prefix { $0 != "|" }
                words.formUnion(cell.matches(of: /[A-Za-z_][A-Za-z0-9_]+/).map { String($0.output) })
            }
        }
        return words
    }
}
