import TestSupport
import Testing

@testable import TaskOperations

@Suite("Costs of a limit, through every order of events", .computing)
struct CostExplorationTests {
    private static func rate(
        burst: Int, allowance: Int? = nil, of unit: OperationRate.Unit = .cost
    ) -> OperationRate {
        OperationRate(first: .init(interval: .seconds(1), burst: burst, allowance: allowance ?? burst, unit: unit))
    }

    private static let plans: [SmallCosts.Plan] = [
        .init(total: rate(burst: 3), requests: [.init(cost: 2), .init(cost: 3), .init(cost: 1), .init(cost: 7)]),
        .init(
            total: rate(burst: 2), requests: [.init(cost: 2, actual: 4), .init(cost: 1, actual: 0), .init(cost: 2)]),
        .init(
            total: rate(burst: 3), requests: [.init(cost: 0, actual: 5), .init(cost: 0), .init(cost: 3, actual: 0)]),
        .init(
            total: rate(burst: 2, allowance: 5),
            requests: [.init(cost: 1), .init(cost: 4), .init(cost: 2, actual: 3), .init(cost: 5)], seconds: 5),
        .init(
            total: rate(burst: 1, allowance: 3), requests: [.init(cost: 3), .init(cost: 2), .init(cost: 9)],
            seconds: 6),
        .init(
            perKey: rate(burst: 2),
            requests: [
                .init(key: 0, cost: 2), .init(key: 0, cost: 1, actual: 3), .init(key: 1, cost: 2, actual: 1),
                .init(key: 0, cost: 2),
            ]),
        .init(
            total: rate(burst: 3), perKey: rate(burst: 2, allowance: 3),
            requests: [
                .init(key: 0, cost: 2), .init(key: 1, cost: 3, actual: 1), .init(key: 0, cost: 1), .init(cost: 2),
            ]),
        .init(
            total: [rate(burst: 4), rate(burst: 1, allowance: 2, of: .starts)],
            requests: [.init(cost: 1, actual: 6), .init(cost: 3, actual: 0), .init(cost: 1), .init(cost: 0)]),
        .init(
            total: rate(burst: 2), requests: [.init(cost: 2), .init(cost: 1, actual: 0), .init(cost: 2)],
            mayWithdraw: true),
        .init(
            perKey: [rate(burst: 2), rate(burst: 1, of: .starts)],
            requests: [.init(key: 0, cost: 2), .init(key: 0, cost: 1), .init(key: 1, cost: 1)], mayWithdraw: true),
        .init(
            total: rate(burst: 2), requests: [.init(cost: 2), .init(cost: 1, actual: 0), .init(cost: 2)],
            pause: .inTotal),
        .init(requests: [.init(key: 0, cost: 1), .init(key: 1, cost: 1), .init(key: 0, cost: 3)], pause: .ofKey(0)),
        .init(
            perKey: rate(burst: 2),
            requests: [.init(key: 0, cost: 3), .init(key: 0, cost: 1, actual: 4), .init(key: 1, cost: 2)],
            pause: .ofKey(0)),
    ]

    @Test(
        "Starts have their tokens, wait no longer, and no period costs more than a window allows",
        arguments: plans.indices)
    func explore(index: Int) throws {
        let exploration = try Exploration(from: SmallCosts(Self.plans[index]))
        #expect(exploration.ends > 0 && exploration.transitions > exploration.states)
    }
}
