import Synchronization
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

/// An executor is called within the call that starts a task, so the tests can act there as another thread might.
@Suite("Dependency cycles that are closed from two sides at once", .inTurns, .endsInTime)
struct CycleRaceTests {
    @Test("An operation is refused if its waiter appears while it is added behind a barrier that waits")
    func behindABarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let before = queue.addOperation(name: "before") {}
        queue.addBarrier(name: "barrier") {}
        let late = operation("late") { late in try! before.addDependency(late) }
        #expect(refusal { try queue.addOperation(late) }?.dependencyCycle == ["late", "barrier", "before", "late"])
        #expect(before.dependencies == [late])
        #expect(queue.operationCount == 2)
        try TaskOperationQueue().addOperation(late)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A batch is refused if a waiter of one appears while it is added behind a barrier that waits")
    func batchBehindABarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let before = queue.addOperation(name: "before") {}
        queue.addBarrier(name: "barrier") {}
        let late = operation("late") { late in try! before.addDependency(late) }
        let others = (0..<3).map { _ in TaskOperation {} }
        let error = refusal { try queue.addOperations(others + [late]) }
        #expect(error?.dependencyCycle == ["late", "barrier", "before", "late"])
        #expect(queue.operationCount == 2)
        try TaskOperationQueue().addOperations(others + [late])
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A barrier is refused if an operation before it begins to wait for it while it is added")
    func barrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let before = queue.addOperation(name: "before") {}
        let barrier = operation("barrier") { barrier in try! before.addDependency(barrier) }
        #expect(refusal { try queue.addBarrier(barrier) }?.dependencyCycle == ["barrier", "before", "barrier"])
        #expect(queue.operations == [before])
        try TaskOperationQueue().addOperation(barrier)
        queue.isSuspended = false
        try await before.value
    }

    @Test(
        "Where a body comes to await a queue while something is added to it that waits for the body, one is refused",
        .prompt)
    func awaitedQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addOperation {}
        let gate = Gate()
        let body = TaskOperationQueue().addOperation(name: "body") {
            await gate.pass()
            try await queue.waitUntilAllOperationsAreFinished()
        }
        await gate.waitForArrivals(1)
        let late = operation("late", dependencies: [body]) { _ in
            gate.open()
            while !queue.scheduler.isAwaited {}
        }
        var refusals: [[String?]?] = []
        do { try queue.addOperation(late) } catch { refusals.append(error.dependencyCycle) }
        queue.isSuspended = false
        if case .failure(let error as TaskOperationError) = await body.result { refusals.append(error.waitCycle) }
        #expect(refusals == [["late", "body", "late"]] || refusals == [["body", "late", "body"]])
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

// MARK: - In the middle

/// Creates an operation that calls `meddle` during its own addition, after the addition has been checked. The addition
/// raises a dependency's priority, which starts a task on the meddling executor.
private func operation(
    _ name: String, dependencies: [AnyTaskOperation] = [], meddle: @escaping @Sendable (AnyTaskOperation) -> Void
) -> AnyTaskOperation {
    let operation = Lock<AnyTaskOperation?>(nil)
    let executor = MeddlingExecutor(after: 1) { meddle(operation.withLock { $0 }!) }
    let raised = TaskOperationQueue(.init(executor: executor)).addOperation(priority: .low) {}
    let made = TaskOperation(name: name, priority: .high, dependencies: dependencies + [raised]) {}
    operation.withLock { $0 = made }
    return made
}

/// Calls a function when it receives its first job, or the first one after `skipped` jobs. It runs jobs only after
/// that.
private final class MeddlingExecutor: TaskExecutor {
    private struct State {
        var held: [UnownedJob] = []
        var meddle: (@Sendable () -> Void)?
        var skipped: Int
    }

    private let state: Lock<State>

    init(after skipped: Int = 0, _ meddle: @escaping @Sendable () -> Void) {
        state = Lock(State(meddle: meddle, skipped: skipped))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (jobs, meddle) = state.withLock { state -> ([UnownedJob], (@Sendable () -> Void)?) in
            state.held.append(job)
            if state.skipped > 0 {
                state.skipped -= 1
                return ([], nil)
            }
            defer { state.held = [] }
            return (state.held, state.meddle.take())
        }
        meddle?()
        for job in jobs { Task.detached { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) } }
    }
}
