import Foundation
import Testing

/// Explores every order of events of small cases. In each state all counts are right and the next decision is the
/// right one, and the queue gets from it to its end by what is sure to happen.
///
/// The number of states grows with the power of what can happen, so the ordinary run takes few operations with much
/// happening, and more operations with little happening. Set EXPLORED_OPERATIONS to 3 or 4, and build with
/// optimisation, for every pair of kinds with that many.
@Suite("SchedulerState, through every order of events")
struct ExplorationTests {
    private static let kinds = SmallQueue.Kind.allCases
    private static let pairs = kinds.indices.flatMap { first in
        kinds[(first + 1)...].map { Set([kinds[first], $0]) }
    }
    private static let exploredOperations = ProcessInfo.processInfo.environment["EXPLORED_OPERATIONS"].flatMap(Int.init)

    @Test("Two operations, and all that can happen but changes of level")
    func twoOperations() async throws {
        let kinds = Set(Self.kinds).subtracting([.levels])
        try await explore("2 operations, all kinds but levels", ExplorationScope(operations: 2, kinds: kinds))
    }

    @Test("Two operations, changes of level and something else", arguments: kinds)
    func twoOperationsAndLevels(kind: SmallQueue.Kind) async throws {
        try await explore("2 operations, levels, \(kind)", ExplorationScope(operations: 2, kinds: [.levels, kind]))
    }

    @Test("Three operations, and one kind of thing that can happen", arguments: kinds)
    func threeOperations(kind: SmallQueue.Kind) async throws {
        try await explore(
            "3 operations, \(kind)", ExplorationScope(operations: 3, kinds: [kind], widths: 1...3, levelChanges: 1))
    }

    @Test("Four operations, one barrier at most, that are added, start and end")
    func fourOperations() async throws {
        try await explore("4 operations", ExplorationScope(operations: 4, kinds: [], widths: 1...3, mostBarriers: 1))
    }

    @Test("More operations", .enabled(if: exploredOperations != nil), arguments: pairs)
    func moreOperations(kinds: Set<SmallQueue.Kind>) async throws {
        let operations = Self.exploredOperations!
        try await explore("\(operations) operations, \(kinds)", ExplorationScope(operations: operations, kinds: kinds))
    }

    private func explore(_ name: String, _ scope: ExplorationScope) async throws {
        let start = ContinuousClock.now
        let tally = try await scope.explore()
        print("\(name): \(tally), \(ContinuousClock.now - start)")
        #expect(tally.transitions > tally.states)
    }
}
