import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import Testing

/// A graph of operations of both libraries on three queues of random kinds, with random cancellations.
struct MixedGraph {
    /// The reports of bodies.
    enum Event: Hashable, Sendable {
        case began(Int)
        case ended(Int)
    }

    let operations: [AnyOperation]
    /// The dependencies of each operation.
    let dependencies: [[Int]]
    let queues: [AnyQueue]
    /// The operations, each with its queue, in the order in which they are added.
    let additions: [(operation: Int, queue: Int)]
    /// The operations to cancel after each number of additions.
    let cancellations: [Int: [Int]]
    /// The functions to call after each number of additions; each makes an operation's class report that it is ready.
    let readiness: [Int: [@Sendable () -> Void]]
    let events = Recorder<Event>()

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...24, using: &generator)
        let events = self.events
        var readiness: [Int: [@Sendable () -> Void]] = [:]
        operations = (0..<count).map { number in
            let (operation, becomeReady) = Self.operation(number, events, &generator)
            if let becomeReady {
                readiness[Int.random(in: 0...count, using: &generator), default: []].append(becomeReady)
            }
            return operation
        }
        self.readiness = readiness
        dependencies = (0..<count).map { number in
            (0..<number).filter { _ in Int.random(in: 0..<5, using: &generator) == 0 }
        }
        queues = (0..<3).map { _ in AnyQueue.random(using: &generator) }
        additions = (0..<count).shuffled(using: &generator)
            .map { ($0, Int.random(in: 0..<3, using: &generator)) }
        var cancellations: [Int: [Int]] = [:]
        for number in 0..<count where Int.random(in: 0..<6, using: &generator) == 0 {
            cancellations[Int.random(in: 0...count, using: &generator), default: []].append(number)
        }
        self.cancellations = cancellations
    }

    private static func operation(
        _ number: Int, _ events: Recorder<Event>, _ generator: inout SeededGenerator
    ) -> (operation: AnyOperation, becomeReady: (@Sendable () -> Void)?) {
        if Bool.random(using: &generator) {
            let operation = TaskOperation<Void>(name: "\(number)") {
                events.record(.began(number))
                await Task.yield()
                events.record(.ended(number))
            }
            return (.ours(operation), nil)
        }
        let styled = OperationStyle.allCases.randomElement(using: &generator)!.make {
            events.record(.began(number))
            sched_yield()
            events.record(.ended(number))
        }
        return (.foundation(styled.operation), styled.becomeReady)
    }

    /// Adds all operations, cancels some of them, and waits for all.
    func run() async throws {
        for (operation, dependencies) in zip(operations, dependencies) {
            for dependency in dependencies { try operation.addDependency(operations[dependency]) }
        }
        for (count, addition) in additions.enumerated() {
            interfere(after: count)
            let operation = operations[addition.operation]
            operation.prepare()
            try queues[addition.queue].add(operation)
            // At this moment a cancelled operation may be in no queue: its node has ended, and the operation has not.
            // An `OperationQueue` does not list an operation that it is about to start.
            if !operation.isCancelled, !queues[addition.queue].isFoundations {
                #expect(throws: (any Error).self) { try operation.addAgain() }
            }
        }
        interfere(after: operations.count)
        for operation in operations { try await operation.finished() }
        for queue in queues { try await queue.finished() }
    }

    private func interfere(after count: Int) {
        for number in cancellations[count] ?? [] { operations[number].cancel() }
        for becomeReady in readiness[count] ?? [] { becomeReady() }
    }

    /// Descriptions of the errors in the reports; empty if there are none.
    func faults() -> [String] {
        var faults: [String] = []
        var places: [Event: Int] = [:]
        for (place, event) in events.events.enumerated() {
            if places.updateValue(place, forKey: event) != nil { faults.append("\(event) twice") }
        }
        let cancelled = Set(cancellations.values.joined())
        for number in operations.indices {
            let (began, ended) = (places[.began(number)], places[.ended(number)])
            if !operations[number].isFinished { faults.append("\(number) is not finished") }
            if (began == nil) != (ended == nil) { faults.append("\(number) began and did not end") }
            if began == nil, !cancelled.contains(number) { faults.append("\(number) never ran") }
            for dependency in dependencies[number] {
                guard let began, let before = places[.ended(dependency)] else { continue }
                if before > began { faults.append("\(number) began before \(dependency) had ended") }
            }
        }
        return faults
    }
}
