import Exploration
import Foundation
import Testing

@Suite("Types with weaker orderings than sequential consistency", .serialized)
struct WeakTypeTests {
    private static let preemptions = Amount.isDeep ? 3 : 1

    @Test(
        "each type does what it says in all schedules, and with every load that is allowed",
        arguments: WeakTypePrograms.all)
    func holds(program: ExploredProgram) async throws {
        // A whole queue takes many more steps than a single type.
        let preemptions = Self.preemptions - (program.name == WeakTypePrograms.observed.name ? 1 : 0)
        let result = await explore(.exhaustive(preemptions: preemptions, limit: 1_000_000), of: program)
        if let result, Amount.isDeep { print("\(program.name): \(result)") }
        #expect(result?.isComplete ?? true)
    }

    @Test(
        "an ordering that is made weaker is noticed", .enabled(if: Amount.isDeep),
        arguments: [
            ([WeakTypePrograms.rank, WeakTypePrograms.ranks], "WaitGraph.swift"),
            ([WeakTypePrograms.phase], "AnyTaskOperation.swift"),
            ([WeakTypePrograms.latch], "System.swift"),
            ([WeakTypePrograms.clock], "QueueClock.swift"),
            ([WeakTypePrograms.portions], "ChunkedRange.swift"),
        ])
    func negativeControls(programs: [ExploredProgram], file: String) async throws {
        let unnoticed = await onOwnThread {
            let strategy = ExplorationStrategy.exhaustive(preemptions: 2, limit: 5_000)
            let weakened = Set(programs.flatMap { $0.explore(.exhaustive(preemptions: 1)).weakenedOrderings })
                .filter { $0.file == file && !Self.isUnneeded($0) }
            #expect(!weakened.isEmpty, "No ordering of \(file) can be weakened.")
            return weakened.filter { weakened in
                !programs.contains { program in
                    var program = program
                    program.weakened = weakened
                    return program.explore(strategy, shrinks: false).failure != nil
                }
            }
        }
        #expect(unnoticed.isEmpty, "No program needs the whole of these orderings.")
    }

    /// Readings of the clock are reported under the queue's lock, so no other thread counts them at the same time.
    private static func isUnneeded(_ ordering: WeakenedOrdering) -> Bool {
        ordering.file == "QueueClock.swift" && ordering.without == .atomic
    }

    @Test("each ordering that is weaker than sequential consistency is used by a program")
    func coverage() async throws {
        let sites = try OrderingSite.weaker
        #expect(!sites.isEmpty)
        let used = await onOwnThread {
            WeakTypePrograms.all.reduce(into: Set<OrderingSite>()) {
                $0.formUnion($1.explore(.uniform(seeds: 0..<30)).orderingSites)
            }
        }
        #expect(sites.subtracting(used).isEmpty, "Add a program to WeakTypePrograms.")
    }
}

extension OrderingSite {
    /// The places in the library with an ordering that is weaker than sequential consistency.
    fileprivate static var weaker: Set<OrderingSite> {
        get throws {
            let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized
            return try Set(
                ["TaskOperations", "TaskOperationsExtras", "TaskOperationsDiagnosis", "TaskOperationsBridge"].flatMap {
                    try weaker(in: sources.appending(path: $0))
                })
        }
    }

    private static func weaker(in folder: URL) throws -> [OrderingSite] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)!
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.flatMap { file in
            let text = try String(contentsOf: file, encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.indices
                .filter { lines[$0].contains(/ordering: \.(relaxed|acquiring|releasing)/) }
                .map { OrderingSite(file: file.lastPathComponent, line: UInt($0 + 1)) }
        }
    }
}
