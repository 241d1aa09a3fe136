import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// Other libraries held a lock while they called user code, for example to cancel, resume or free an object. In each of
/// these tests, such code calls the library again. If this library held a lock, the call would deadlock or trap.
@Suite("Faults of other libraries: locks held during calls of user code", .inTurns, .endsInTime)
struct FailureTestsLocks {
    @Test("Elsewhere a lock was held while cancelling: a cancellation handler calls the library")
    func cancellationHandlers() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        let calls = Recorder<Int>()
        let other = queue.addOperation {
            await gate.pass()
            return Task.isCancelled
        }
        let operation = queue.addOperation {
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                other.cancel()
                queue.addOperation {}.cancel()
                calls.record(queue.operations.count)
                AnyTaskOperation.current?.cancel()
            }
        }
        await gate.waitForArrivals(2)
        operation.cancel()
        gate.open()
        try await operation.value
        #expect(try await other.value)
        #expect(calls.events == [2])
    }

    @Test("A lock was held while the captures of a body were freed, whose deinitialisers call the library")
    func freeingBodies() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let calls = Recorder<Int>()
        let callback = { @Sendable (operation: TaskOperation<Void>) in
            CallsBack {
                calls.record(queue.operationCount)
                operation.cancel()
                queue.addOperation {}.cancel()
                queue.maxConcurrentOperationCount = 2
            }
        }
        let other = queue.addOperation {}
        let cancelled = { [callback = callback(other)] in queue.addOperation { withExtendedLifetime(callback) {} } }()
        cancelled.cancel()
        #expect(calls.events == [1] || calls.events == [2])
        let run = { [callback = callback(other)] in queue.addOperation { withExtendedLifetime(callback) {} } }()
        queue.isSuspended = false
        try await run.value
        let single = { [callback = callback(other)] in TaskOperation { withExtendedLifetime(callback) {} } }()
        single.cancel()
        #expect(calls.events.count == 3)
    }

    @Test("Elsewhere a lock was held while freeing: outcomes, handlers and dependencies call the library too")
    func freeingOtherThings() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let freed = Gate()
        let callback = { @Sendable in
            CallsBack {
                _ = queue.debugDescription
                queue.addOperation { await freed.pass() }
            }
        }
        do {
            let operation = queue.addOperation { callback() }
            let dependent = TaskOperation(dependencies: [operation]) {}
            dependent.addCompletionHandler { [callback = callback()] in withExtendedLifetime(callback) {} }
            _ = try await operation.value
            try dependent.addDependency(TaskOperation { [callback = callback()] in withExtendedLifetime(callback) {} })
            dependent.cancel()
        }
        await freed.waitForArrivals(3)
        freed.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Elsewhere a lock was held while resuming: an executor calls the library as it is given a job")
    func executors() async throws {
        let (queue, calls) = (TaskOperationQueue(), ConcurrencyMeter())
        let executor = CallingExecutor {
            calls.enter()
            let operation = queue.addOperation {}
            _ = queue.debugDescription
            operation.cancel()  // Limits the number of operations that are described at once.
        }
        let special = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor))
        let awaited = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor))
        let semaphore = AsyncSemaphore(capacity: 1)
        let operations = (0..<50).map { number in
            special.addOperation {
                _ = special.debugDescription
                _ = try await awaited.run { number }
                return try await semaphore.withPermit {
                    await Task.yield()
                    return number
                }
            }
        }
        for (number, operation) in operations.enumerated() { #expect(try await operation.value == number) }
        #expect(calls.total > 50)
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

/// Calls a function when it is freed.
private final class CallsBack: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    deinit { action() }
}

/// Calls a function each time a job is enqueued, and passes the job on.
private final class CallingExecutor: TaskExecutor {
    private let action: @Sendable () -> Void
    private let executor = SingleThreadExecutor()

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    func enqueue(_ job: consuming ExecutorJob) {
        action()
        executor.enqueue(job)
    }
}
