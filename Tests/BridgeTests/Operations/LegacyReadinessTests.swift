import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations of Foundation that say themselves when they are ready", .inTurns)
struct LegacyReadinessTests {
    /// The conditions are evaluated when `isReady` is first read, which is while the operation is added.
    @Test("all start that become ready in the moment in which they are added", .timeLimit(.minutes(120)))
    func readyWhileAdded() async throws {
        let runs = ConcurrencyMeter()
        let bridged = PreparingBridgedQueue(name: nil, maxConcurrentOperationCount: 4)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        for _ in 0..<size(100, deep: 400) {
            let operations = (0..<50).map { _ in
                ConditionedOperation(work: { operation in
                    runs.enter()
                    operation.finish()
                })
            }
            for (number, operation) in operations.enumerated() {
                if number.isMultiple(of: 2) {
                    bridged.addOperation(operation)
                } else {
                    operation.willEnqueue()
                    try queue.addOperation(operation)
                }
            }
            for operation in operations { await operation.finished() }
        }
        #expect(runs.total == size(100, deep: 400) * 50)
    }

    @Test("one that is ready while its class evaluates, at once and within the question, starts")
    func readyWithinTheQuestion() async throws {
        let queue = TaskOperationQueue()
        for _ in 0..<100 {
            let operation = ConditionedOperation(condition: { $0() })
            operation.willEnqueue()
            try queue.addOperation(operation)
            await operation.finished()
        }
    }

    @Test("one that is not ready is pending, holds no permit, and can still get a dependency")
    func pending() async throws {
        for _ in 0..<50 { try await pendingOnce() }
    }

    private func pendingOnce() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let held = ConditionalOperation(name: "held") {}
        let node = try queue.addOperation(held)
        try await queue.addOperation {}.value
        #expect(node.state == .waiting)
        let other = TaskOperation {}
        try held.addDependency(other)
        #expect(node.dependencies.contains(other))
        held.fulfil()
        #expect(node.state == .waiting)
        try queue.addOperation(other)
        try await node.waitUntilFinished()
        #expect(held.isFinished)
    }

    @Test("one that is not ready and is refused can be added elsewhere, and waits for nothing that is left behind")
    func refusal() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let held = ConditionalOperation {}
        let before = queue.addOperation {}
        queue.addBarrier {}
        try before.addDependency(held)
        #expect(throws: TaskOperationError.self) { try queue.addOperation(held) }
        let node = try TaskOperationQueue().addOperation(held)
        #expect(node.dependencies.count == 1)
        held.fulfil()
        queue.isSuspended = false
        try await node.waitUntilFinished()
        try await before.value
    }

    @Test("one that gets a dependency after it was found ready, and before it is started, waits for it")
    func linkedAtTheLastMoment() async throws {
        let queue = TaskOperationQueue(.init(executor: InlineExecutor()))
        let dependency = BlockOperation {}
        let runs = Recorder<Bool>()
        let late = LinkedWhenAsked(dependency) { runs.record(dependency.isFinished) }
        let node = try queue.addOperation(late)
        try TaskOperationQueue().addOperation(dependency)
        try await node.waitUntilFinished()
        #expect(runs.events == [true])
        #expect(late.dependencies == [] && late.wasLinked)
    }

    @Test("its dependent cannot become its dependency")
    func cycle() async throws {
        let queue = TaskOperationQueue()
        let held = ConditionalOperation {}
        let node = try queue.addOperation(held)
        let dependent = queue.addOperation(dependencies: [node]) {}
        #expect(throws: TaskOperationError.self) { try held.addDependency(dependent) }
        held.fulfil()
        try await dependent.value
    }

    @Test("one whose class says that it is ready, and takes it back, starts when it is ready again")
    func readinessTakenBack() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let runs = ConcurrencyMeter()
        let dependency = BlockOperation {}
        let operation = BlockOperation { runs.enter() }
        try queue.addOperation(operation)
        operation.addDependency(dependency)
        queue.isSuspended = false
        try await queue.addOperation {}.value
        #expect(runs.total == 0)
        OperationQueue().addOperation(dependency)
        await operation.finished()
        #expect(runs.total == 1)
    }
}

/// Adds a dependency to itself just after its `isReady` has evaluated to true.
private final class LinkedWhenAsked: Foundation.Operation, @unchecked Sendable {  // Mutable state is in locks.
    private let dependency: Foundation.Operation
    private let work: @Sendable () -> Void
    private let looks = Lock(0)

    init(_ dependency: Foundation.Operation, work: @escaping @Sendable () -> Void) {
        self.dependency = dependency
        self.work = work
    }

    var wasLinked: Bool { looks.withLock { $0 >= 2 } }

    override var isReady: Bool {
        let isReady = super.isReady
        let look = looks.withLock { looks in
            looks += 1
            return looks
        }
        // The first read is before the operation is added to a queue.
        if look == 2 { addDependency(dependency) }
        return isReady
    }

    override func main() { work() }
}
