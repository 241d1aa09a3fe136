import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The cause of a cancellation", .schedules(20), .endsInTime)
struct CancellationCauseTests {
    private struct Stopped: Error {}

    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
    private let clock = ManualClock()

    /// Runs a body until it is cancelled. Returns the causes before and after the cancellation.
    private func cause(
        _ options: OperationOptions = OperationOptions(), _ cancel: (AnyTaskOperation) -> Void
    ) async throws -> [(any Error)?] {
        let (hasStarted, causes) = (Gate(), Recorder<(any Error)?>())
        let operation = queue.addOperation(options) { [clock] in
            causes.record(AnyTaskOperation.current!.cancellationCause)
            hasStarted.open()
            try? await clock.sleep(for: .seconds(60))
            causes.record(AnyTaskOperation.current!.cancellationCause)
        }
        await hasStarted.pass()
        cancel(operation)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(operation.cancellationCause == nil)
        return causes.events
    }

    @Test("a body finds the error that its operation was cancelled with, and nothing before")
    func body() async throws {
        let causes = try await cause { $0.cancel(throwing: Stopped()) }
        #expect(causes[0] == nil)
        #expect(causes[1] is Stopped)
    }

    @Test("A cancellation of queued operations only has no effect on an executing operation")
    func queuedOnly() async throws {
        let gate = Gate()
        let executing = queue.addOperation {
            await gate.pass()
            return Task.isCancelled
        }
        let queued = queue.addOperation {}
        await gate.waitForArrivals(1)
        for operation: AnyTaskOperation in [executing, queued] {
            operation.cancel(throwing: Stopped(), queuedOnly: true)
        }
        #expect(queued.failure is Stopped && queued.isCancelled)
        #expect(!executing.isCancelled)
        gate.open()
        #expect(try await !executing.value)
    }

    @Test("the first cause counts; cancel() has CancellationError")
    func first() async throws {
        let causes = try await cause {
            $0.cancel()
            $0.cancel(throwing: Stopped())
        }
        #expect(causes[1] is CancellationError)
    }

    @Test("a body finds the error that all operations of its queue were cancelled with")
    func all() async throws {
        let causes = try await cause { _ in queue.cancelAllOperations(throwing: Stopped()) }
        #expect(causes[1] is Stopped)
    }

    @Test("a body finds that its timeout has passed", arguments: [TimeoutOverrun.wait, .abandon])
    func timeout(overrun: TimeoutOverrun) async throws {
        let causes = try await cause([.timeout(.seconds(1)), .overrun(overrun), .clock(clock)]) { _ in
            clock.advance(by: .seconds(1))
        }
        guard case .timedOut = causes[1] as? TaskOperationError else {
            Issue.record("the cause is \(String(describing: causes[1]))")
            return
        }
    }

    @Test("the next body finds no cause")
    func next() async throws {
        _ = try await cause { $0.cancel(throwing: Stopped()) }
        #expect(try await queue.run { AnyTaskOperation.current!.cancellationCause == nil })
    }

    @Test("an operation that has not started ends with the cause")
    func unstarted() {
        queue.isSuspended = true
        let operation = queue.addOperation {}
        operation.cancel(throwing: Stopped())
        #expect(operation.failure is Stopped)
        #expect(operation.cancellationCause == nil)
    }
}
