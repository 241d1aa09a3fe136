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
    @Test("all start that become ready in the moment in which they are added", .endsInTime)
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
        #expect(late.dependencies == [dependency] && late.wasLinked)
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

    @Test("After the removal of a dependency, an operation is not examined again and again while another one executes")
    func fewExaminations() async throws {
        let (queue, other) = (TaskOperationQueue(), TaskOperationQueue())
        let (removed, operation) = (TaskOperation {}, CountingReadiness())
        let executing = IgnoringCancellation()
        try operation.addDependency(removed)
        operation.addDependency(executing)
        other.isSuspended = true
        try other.addOperation(executing)
        try queue.addOperation(operation)
        operation.removeDependency(removed)
        executing.cancel()
        #expect(await eventually { executing.isExecuting })
        let before = operation.readCount
        for _ in 0..<2000 { await Task.yield() }
        #expect(operation.readCount < before + 50)
        executing.finish()
        #expect(await eventually { operation.isFinished })
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

/// An operation that counts how often its readiness is read.
private final class CountingReadiness: Foundation.Operation, @unchecked Sendable {  // Mutable state is in a lock.
    private let count = Lock(0)

    var readCount: Int { count.withLock { $0 } }

    override var isReady: Bool {
        count.withLock { $0 += 1 }
        return super.isReady
    }
}

/// An operation that executes until `finish`, even if it is cancelled before its start.
private final class IgnoringCancellation: Foundation.Operation, @unchecked Sendable {  // Mutable state is in a lock.
    private enum State { case waiting, executing, finished }

    private let state = Lock(State.waiting)

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() { set(.executing, "isExecuting") }

    func finish() { set(.finished, "isFinished") }

    private func set(_ new: State, _ key: String) {
        willChangeValue(forKey: key)
        state.withLock { $0 = new }
        didChangeValue(forKey: key)
    }
}
