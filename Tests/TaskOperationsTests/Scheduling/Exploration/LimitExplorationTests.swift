import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Limits of operations, through every order of events", .computing)
struct LimitExplorationTests {
    private static let plans: [SmallLimits.Plan] = [
        .init(operations: [(0, [0]), (1, [0]), (0, [0])]),
        .init(operations: [(0, [0, 1]), (1, [0, 1]), (0, [])]),
        .init(operations: [(0, [0, 1]), (1, [1]), (1, [0])], mayCancel: true),
        .init(operations: [(0, [0, 1]), (0, [0]), (0, [1])], widths: [2, 1]),
        .init(operations: [(0, [0, 1]), (1, [0, 1])], tasks: [[0], [1]]),
        .init(operations: [(0, [0, 1])], tasks: [[0, 1], [0, 1]]),
        .init(operations: [(0, [0, 1]), (1, [0])], tasks: [[1, 0]]),
        .init(operations: [(0, [0, 1]), (1, [0]), (1, [])], maySuspend: true),
        .init(operations: [(0, [0]), (0, [0]), (1, [0])], capacities: [2, 1], mayCancel: true),
        .init(operations: [(0, [0]), (0, [0]), (0, [0]), (1, [0])], widths: [2, 1], capacities: [2, 1]),
        .init(operations: [(0, [0]), (0, [0]), (0, [0])], levels: [.medium, .high, .medium]),
        .init(
            operations: [(0, [0]), (0, [0]), (0, [0])], widths: [3, 1], levels: [.low, .low, .high], mayCancel: true),
        .init(operations: [(0, [0]), (0, [0]), (0, []), (0, [0])], widths: [2, 1], dependencyCount: 1),
        .init(
            operations: [(0, [0]), (0, [0]), (0, [0]), (0, [0])], widths: [2, 1], levels: [.high, .low, .low, .high]),
        .init(
            operations: [(0, [0, 1]), (0, [0, 1]), (0, [0, 1])], tasks: [[1]], widths: [2, 1], capacities: [2, 1],
            maySuspend: true),
        .init(operations: [(0, [0]), (0, [0]), (0, [0]), (1, [0])], widths: [2, 1], mayCancel: true),
        .init(operations: [(0, [0]), (0, [0]), (0, [0])], widths: [3, 1], levels: [.medium, .low, .medium]),
        .init(operations: [(0, [0]), (0, [0]), (1, [0])], dependencyCount: 2),
        .init(operations: [(0, [0, 1]), (1, [1])], tasks: [[0]], mayCancel: true, dependencyCount: 1),
        .init(operations: [(1, [0]), (0, [0]), (0, [0])], levels: [.medium, .low, .high], mayCancel: true),
        .init(
            operations: [(0, [0]), (0, [0]), (0, [0])], tasks: [[0]], levels: [.low, .medium, .low],
            mayCancel: true),
        .init(operations: [(0, [0, 1]), (0, [0, 1]), (0, [1])], tasks: [[1]], levels: [.low, .high, .medium]),
        .init(operations: [(0, [0]), (1, [0]), (0, [0])], capacities: [2, 1], weights: [2, 1, 1], mayCancel: true),
        .init(operations: [(0, [0]), (1, [0]), (1, [0, 1])], tasks: [[0]], capacities: [2, 2], weights: [2, 1, 2]),
        .init(operations: [(0, [0]), (1, [0])], tasks: [[0]], capacities: [2, 1], weights: [3, 1], mayCancel: true),
        .init(
            operations: [(0, [0]), (0, [0]), (1, [0]), (1, [0])], widths: [2, 2], capacities: [2, 1], perKey: 1,
            keys: [0, 0, 0, 1]),
        .init(
            operations: [(0, [0]), (1, [0]), (1, [0])], capacities: [2, 1], perKey: 1, keys: [0, 0, nil],
            mayCancel: true),
        .init(
            operations: [(0, [0, 1]), (1, [0]), (1, [1])], tasks: [[1]], capacities: [2, 1], perKey: 1,
            keys: [0, 0, nil], maySuspend: true),
        // The limits of two sets are held, and an earlier operation of the second set becomes ready.
        .init(operations: [(0, [0]), (0, [1]), (0, [1])], tasks: [[0], [1]], widths: [2, 1], dependencyCount: 1),
        .init(
            operations: [(0, [0]), (0, [1]), (0, [1]), (0, [])], tasks: [[0], [1]], widths: [2, 1], mayCancel: true,
            dependencyCount: 1),
    ]

    @Test("Permits are conserved, everything gets its turn, and priorities decide the order", arguments: plans.indices)
    func explore(index: Int) throws {
        let exploration = try Exploration(from: SmallLimits(Self.plans[index]))
        #expect(exploration.ends > 0 && exploration.transitions > exploration.states)
    }

    @Test("One event parks a bounded number of operations, and workers are requested until one starts")
    func boundedParking() {
        var state = SchedulerState<Int, Int>(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let set = state.makeLimitSet()
        for number in 0...1000 {
            let slot = state.nextSlot
            if number < 1000 { state.setLimits(set, of: slot) }
            state.insert(number, Newcomer(isReady: true), at: slot)
        }
        state.setSuspended(false)
        var (started, workers, calls) = (nil as Int?, 0, 0)
        while started == nil {
            let parkedBefore = state.limitedOperations.sets[set].parked.count
            state.takeLimitsOfNext { _, _ in .waits(isKeeping: false) }
            state.computeEffects()
            let requested = state.takeEffects().workers
            if requested.isEmpty { break }
            for level in requested { state.workerBegan(at: level) }
            started = state.nextStart(at: .medium) { _, _ in
                calls += 1
                return .waits(isKeeping: false)
            }
            workers += 1
            #expect(state.limitedOperations.sets[set].parked.count - parkedBefore <= 2 * 64)
        }
        #expect(started.map { state.rows[$0].element } == 1000)
        #expect(workers < 20 && calls == 0)
    }
}
