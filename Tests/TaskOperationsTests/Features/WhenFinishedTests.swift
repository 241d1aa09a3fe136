import Dispatch
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Outcomes reported on the caller's actor", .endsInTime)
struct WhenFinishedTests {
    @MainActor
    private final class Screen {
        var texts: [String] = []
        let shown = Gate()

        func load(on queue: TaskOperationQueue, _ body: @escaping TaskOperation<Int>.Body) -> TaskOperation<Int> {
            let operation = queue.addOperation(body: body)
            operation.whenFinished { result in
                MainActor.assertIsolated()
                self.texts.append((try? result.get()).map(String.init) ?? "failed")
                self.shown.open()
            }
            return operation
        }
    }

    private actor Counter {
        private(set) var sum = 0
        let counted = Gate()

        func count(_ operation: TaskOperation<Int>) {
            operation.whenFinished { result in
                self.assertIsolated()
                self.sum += (try? result.get()) ?? 0
                self.counted.open()
            }
        }
    }

    @Test("a handler of a main-actor class runs on the main actor, for a value, an error and a finished operation")
    @MainActor
    func mainActor() async throws {
        let queue = TaskOperationQueue()
        for (isSuccess, text) in [(true, "1"), (false, "failed")] {
            let screen = Screen()
            let operation = screen.load(on: queue) { if isSuccess { 1 } else { throw WorkFailed() } }
            await screen.shown.pass()
            #expect(screen.texts == [text])
            let again = Gate()
            operation.whenFinished { _ in
                MainActor.assertIsolated()
                again.open()
            }
            await again.pass()
        }
    }

    @Test("No step of the main actor comes between the check for a cancellation and the handler", .schedules(300))
    @MainActor
    func cancelledAtAnyStep() async throws {
        let (queue, gate, results) = (TaskOperationQueue(), Gate(), Recorder<Int?>())
        let operation = queue.addOperation {
            await gate.pass()
            return 7
        }
        operation.whenFinished { results.record(try? $0.get()) }
        gate.open()
        while !operation.isFinished { await Task.yield() }
        let isCancelled = results.events.isEmpty
        if isCancelled { operation.cancel() }
        while results.events.isEmpty { await Task.yield() }
        #expect(results.events == [isCancelled ? nil : 7])
    }

    @Test("a handler of an actor runs on that actor")
    func actor() async throws {
        let counter = Counter()
        await counter.count(TaskOperationQueue().addOperation { 3 })
        await counter.counted.pass()
        #expect(await counter.sum == 3)
    }

    @Test("A handler receives no value after cancel() has returned on its actor, even if the operation was finished")
    @MainActor
    func cancelledBeforeDelivery() async throws {
        let queue = TaskOperationQueue()
        let screen = Screen()
        let body = Gate()
        let operation = screen.load(on: queue) {
            await body.pass()
            return 1
        }
        let finished = DispatchSemaphore(value: 0)
        operation.addCompletionHandler { finished.signal() }
        body.open()
        // Blocks the main actor, so that the handler waits for the actor when the operation has finished.
        block(on: finished)
        operation.cancel()
        await screen.shown.pass()
        #expect(screen.texts == ["failed"])
        #expect(!operation.isCancelled && operation.outcome.map { (try? $0.get()) == 1 } == true)
    }

    @Test("A handler receives the value of a finished operation after cancelAllOperations(), but not after cancel()")
    @MainActor
    func allCancelledBeforeDelivery() async throws {
        let queue = TaskOperationQueue()
        for (isCancelled, text) in [(false, "1"), (true, "failed")] {
            let (screen, body) = (Screen(), Gate())
            let operation = screen.load(on: queue) {
                await body.pass()
                return 1
            }
            body.open()
            let isEmpty = DispatchSemaphore(value: 0)
            Task.detached {
                try await queue.waitUntilAllOperationsAreFinished()
                isEmpty.signal()
            }
            // Blocks the main actor, so that the handler waits for the actor when the operation has left the queue.
            block(on: isEmpty)
            queue.cancelAllOperations()
            if isCancelled { operation.cancel() }
            await screen.shown.pass()
            #expect(screen.texts == [text])
        }
    }

    @Test("A handler receives no value after cancel() if the body succeeds nevertheless")
    @MainActor
    func cancelledWhileExecuting() async throws {
        let (screen, body) = (Screen(), Gate())
        let operation = screen.load(on: TaskOperationQueue()) {
            await body.pass()
            return 1
        }
        await body.waitForArrivals(1)
        operation.cancel()
        body.open()
        await screen.shown.pass()
        #expect(screen.texts == ["failed"])
        #expect(try await operation.value == 1)
    }

    @Test("a handler without isolation runs once, also for an operation that was cancelled before its start")
    func nonisolated() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let results = Recorder<Bool>()
        let called = Gate()
        let operation = queue.addOperation { 1 }
        operation.whenFinished { result in
            results.record((try? result.get()) == nil)
            called.open()
        }
        operation.cancel()
        await called.pass()
        #expect(results.events == [true])
    }
}
