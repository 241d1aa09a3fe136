import TaskOperationsExpectations
import Testing

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
        .init(operations: [(0, [0]), (0, [0]), (1, [0])], refusalCount: 2),
        .init(operations: [(0, [0, 1]), (1, [1])], tasks: [[0]], mayCancel: true, refusalCount: 1),
        .init(operations: [(1, [0]), (0, [0]), (0, [0])], levels: [.medium, .low, .high]),
        .init(operations: [(1, [0]), (0, [0]), (0, [0])], levels: [.medium, .low, .high], agedIntervals: 2),
        .init(
            operations: [(0, [0]), (0, [0]), (0, [0])], tasks: [[0]], levels: [.low, .medium, .low], agedIntervals: 1,
            mayCancel: true),
        .init(
            operations: [(0, [0, 1]), (0, [0, 1]), (0, [1])], tasks: [[1]], levels: [.low, .high, .medium],
            agedIntervals: 2),
    ]

    @Test("Permits are conserved, everything gets its turn, and ages decide the order", arguments: plans.indices)
    func explore(index: Int) throws {
        let exploration = try Exploration(from: SmallLimits(Self.plans[index]))
        #expect(exploration.ends > 0 && exploration.transitions > exploration.states)
    }
}
