import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

/// Two operations of any style, the second of which depends on the first, and an order of the steps that use them.
private struct Scenario: CustomStringConvertible {
    enum Step: CaseIterable {
        case link, addFirst, addSecond, readyFirst, readySecond, cancel
    }

    var styles: [OperationStyle]
    var steps: [Step]
    /// The number of the operation that is cancelled; nil if none is.
    var cancelled: Int?
    var isSuspended: Bool

    var description: String {
        "\(styles), \(steps), cancelled: \(cancelled.map(String.init) ?? "none"), suspended: \(isSuspended)"
    }

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        styles = (0..<2).map { _ in OperationStyle.allCases.randomElement(using: &generator)! }
        steps = Step.allCases.shuffled(using: &generator)
        cancelled = [nil, 0, 1].randomElement(using: &generator)!
        isSuspended = Bool.random(using: &generator)
    }

    /// The outcome of an operation.
    struct Outcome: Hashable, Sendable {
        var runs = 0
        var isFinished = false
        var isCancelled = false
    }

    /// The outcomes of both operations, and the order of the bodies.
    struct Result: Hashable, Sendable {
        var outcomes: [Outcome] = []
        var order: [Int] = []
    }

    func run(on kind: LegacyQueue) async throws -> Result {
        let events = Recorder<Int>()
        let operations = (0..<2).map { number in styles[number].make { events.record(number) } }
        let queue = kind.make(width: 2, isSuspended: isSuspended)
        for step in steps { try take(step, operations, queue) }
        queue.resume()
        for operation in operations { await operation.operation.finished() }
        try await queue.finished()
        let outcomes = operations.enumerated().map { number, operation in
            Outcome(
                runs: events.events.filter { $0 == number }.count, isFinished: operation.operation.isFinished,
                isCancelled: operation.operation.isCancelled)
        }
        return Result(outcomes: outcomes, order: events.events)
    }

    private func take(_ step: Step, _ operations: [StyledOperation], _ queue: AnyQueue) throws {
        switch step {
        case .link: operations[1].operation.addDependency(operations[0].operation)
        case .addFirst: try queue.add(prepared: operations[0].operation)
        case .addSecond: try queue.add(prepared: operations[1].operation)
        case .readyFirst: operations[0].becomeReady()
        case .readySecond: operations[1].becomeReady()
        case .cancel: if let cancelled { operations[cancelled].operation.cancel() }
        }
    }

    /// Whether the dependency is added before the second operation can start.
    var isLinkedInTime: Bool {
        isSuspended || steps.firstIndex(of: .link)! < steps.firstIndex(of: .addSecond)!
    }

    /// The violations of the rules that hold on every queue.
    func faults(of result: Result) -> [String] {
        var faults: [String] = []
        for (number, outcome) in result.outcomes.enumerated() {
            if !outcome.isFinished { faults.append("\(number) is not finished") }
            if outcome.runs > 1 { faults.append("\(number) ran \(outcome.runs) times") }
            if number != cancelled, outcome.runs != 1 { faults.append("\(number) did not run") }
            if number == cancelled, isSuspended, outcome.runs > 0 { faults.append("cancelled \(number) ran") }
        }
        if isLinkedInTime, result.order == [1, 0] { faults.append("the dependent ran first") }
        return faults
    }
}

@Suite(
    "Operations as people write them do on a queue of ours and on a bridged one what they do in an OperationQueue",
    .inTurns)
struct LegacyParityTests {
    @Test(
        "in every order of linking, adding, cancelling and becoming ready", .endsInTime, arguments: 0..<8)
    func everyOrder(part: UInt64) async throws {
        let count = UInt64(size(150, deep: 1000))
        for seed in part * count..<(part + 1) * count {
            let scenario = Scenario(seed: seed)
            let results = try await [
                scenario.run(on: .foundation), scenario.run(on: .ours), scenario.run(on: .bridged),
            ]
            for (result, kind) in zip(results, LegacyQueue.allCases) {
                let faults = scenario.faults(of: result)
                #expect(faults.isEmpty, "seed \(seed) on \(kind): \(scenario)")
            }
            // If the queue was suspended, the outcomes were decided before the first start, so they must be the same on
            // all queues.
            if scenario.isSuspended {
                #expect(Set(results.map(\.outcomes)).count == 1, "seed \(seed): \(scenario): \(results)")
            }
        }
    }
}
