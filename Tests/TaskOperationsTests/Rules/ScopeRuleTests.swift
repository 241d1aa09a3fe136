import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 18: nothing outlives withTaskOperationQueue", .inTurns, .endsInTime)
struct ScopeRuleTests {
    @Test("Leaving the scope waits for all that was added")
    func leavingWaits() async throws {
        let ends = ConcurrencyMeter()
        let operations = try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            (0..<200).map { _ in queue.addOperation { await ends.measure { await Task.yield() } } }
        }
        #expect(ends.total == 200)
        #expect(operations.allSatisfy { $0.isFinished && !$0.isCancelled })
    }

    @Test("The end of the scope waits for operations that others add meanwhile")
    func waitsForWhatIsAdded() async throws {
        let ends = ConcurrencyMeter()
        _ = try await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
            queue.addOperation {
                for _ in 0..<10 {
                    queue.addOperation {
                        await Task.yield()
                        queue.addOperation { ends.enter() }
                    }
                }
            }
        }
        #expect(ends.total == 10)
    }

    @Test("An error of the body cancels the remaining operations, waits for them, and is thrown")
    func leavingByAnError() async throws {
        let (started, released) = (Gate(), Gate())
        let executing = TaskOperation {
            await withTaskCancellationHandler {
                await started.pass()
                await released.pass()
                return Task.isCancelled
            } onCancel: {
                released.open()
            }
        }
        let pending = TaskOperation {}
        await #expect(throws: WorkFailed(number: 3)) {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
                try queue.addOperations([executing, pending])
                started.open()
                await started.waitForArrivals(1)
                throw WorkFailed(number: 3)
            }
        }
        #expect(try executing.outcome?.get() == true)
        #expect(pending.failure is CancellationError)
    }

    @Test("Cancelling its task cancels the remaining operations and those that are added later")
    func cancellingTheTaskAround() async throws {
        let (arrived, released) = (Gate(), Gate())
        let task = Task {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
                let executing = queue.addOperation {
                    await withTaskCancellationHandler {
                        await arrived.pass()
                    } onCancel: {
                        arrived.open()
                    }
                    return Task.isCancelled
                }
                let pending = queue.addOperation { false }
                await released.pass()
                return (executing, pending, queue.addOperation { false })
            }
        }
        await arrived.waitForArrivals(1)
        task.cancel()
        released.open()
        let (executing, pending, later) = try await task.value
        #expect(try await executing.value)
        #expect(pending.failure is CancellationError)
        #expect(later.failure is CancellationError)
    }

    @Test("A scope that is left while its task is being cancelled still waits for all", arguments: 0..<50)
    func cancellingWhileLeaving(_: Int) async throws {
        let meter = ConcurrencyMeter()
        let task = Task {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
                for _ in 0..<50 { queue.addOperation { await meter.measure { await Task.yield() } } }
            }
            return meter.now
        }
        await Task.yield()
        task.cancel()
        #expect(try await task.value == 0)
    }

    @Test("A queue that was suspended in its scope is resumed at the end")
    func suspendedInItsScope() async throws {
        let operation = try await withTaskOperationQueue { queue in
            queue.isSuspended = true
            return queue.addOperation { 1 }
        }
        #expect(try operation.outcome?.get() == 1)
    }

    @Test("A queue that left its scope takes nothing any more")
    func afterTheScope() async throws {
        let queue = try await withTaskOperationQueue { $0 }
        let operation = queue.addOperation(name: "late") {}
        #expect(operation.isFinished)
        #expect(operation.refusal?.queueShutDown == "late")
    }
}
