import Foundation
import TaskOperationsTesting
import TestSupport
import Testing

/// Explores every order of events of small cases. In each state, all counts and the next decision must be right. From
/// each state, the queue must reach its end by events that are certain to happen.
///
/// The number of states grows exponentially with the kinds of events. The ordinary run therefore explores few
/// operations with many kinds, and a sample of the plans with more operations and few kinds. Set TASK_OPERATIONS_DEEP
/// for a larger sample and more widths. Set EXPLORED_OPERATIONS to 2, 3 or 4, in an optimised build, to explore every
/// plan with that number of operations and every pair of kinds.
@Suite("SchedulerState, through every order of events", .computing)
struct ExplorationTests {
    private static let kinds = SmallQueue.Kind.allCases
    private static let pairs = kinds.indices.flatMap { first in
        kinds[(first + 1)...].map { Set([kinds[first], $0]) }
    }
    private static let exploredOperations = ProcessInfo.processInfo.environment["EXPLORED_OPERATIONS"].flatMap(Int.init)
    private static let widths = isDeep ? 1...2 : 2...2

    @Test("Two operations, and all that can happen but changes of level, little room, caps, and a rate")
    func twoOperations() throws {
        let kinds = Set(Self.kinds).subtracting([.levels, .room, .caps, .rate])
        try explore(
            "2 operations, all kinds but levels, room, caps and a rate",
            ExplorationScope(operations: 2, kinds: kinds, oneIn: isDeep ? 2 : 8))
    }

    @Test("Two operations, changes of level and something else", arguments: kinds)
    func twoOperationsAndLevels(kind: SmallQueue.Kind) throws {
        try explore(
            "2 operations, levels, \(kind)",
            ExplorationScope(operations: 2, kinds: [.levels, kind], oneIn: isDeep ? 1 : 8))
    }

    @Test("Two operations, room for one, and something else", arguments: kinds)
    func twoOperationsAndRoom(kind: SmallQueue.Kind) throws {
        try explore(
            "2 operations, room, \(kind)", ExplorationScope(operations: 2, kinds: [.room, kind], oneIn: isDeep ? 1 : 6))
    }

    @Test("Two operations, a rate and something else", arguments: kinds)
    func twoOperationsAndRate(kind: SmallQueue.Kind) throws {
        try explore(
            "2 operations, rate, \(kind)", ExplorationScope(operations: 2, kinds: [.rate, kind], oneIn: isDeep ? 1 : 8))
    }

    @Test("Three operations, and one kind of thing that can happen", arguments: kinds)
    func threeOperations(kind: SmallQueue.Kind) throws {
        try explore(
            "3 operations, \(kind)",
            ExplorationScope(
                operations: 3, kinds: [kind], widths: kind == .widths ? 1...3 : Self.widths, levelChanges: 1,
                oneIn: isDeep ? 6 : 24))
    }

    @Test("Four operations, one barrier at most, that are added, start and end")
    func fourOperations() throws {
        try explore(
            "4 operations",
            ExplorationScope(
                operations: 4, kinds: [], widths: Self.widths, mostBarriers: 1, oneIn: isDeep ? 24 : 48))
    }

    @Test("More operations", .enabled(if: exploredOperations != nil), arguments: pairs)
    func moreOperations(kinds: Set<SmallQueue.Kind>) throws {
        let operations = Self.exploredOperations!
        try explore("\(operations) operations, \(kinds)", ExplorationScope(operations: operations, kinds: kinds))
    }

    private func explore(_ name: String, _ scope: ExplorationScope) throws {
        let start = ContinuousClock.now
        let tally = try scope.explore()
        print("\(name): \(tally), \(ContinuousClock.now - start)")
        #expect(tally.transitions > tally.states)
    }
}
