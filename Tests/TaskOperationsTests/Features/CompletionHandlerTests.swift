import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@Suite("Completion handlers may call the library", .inTurns, .timeLimit(.minutes(10)))
struct CompletionHandlerTests {
    @Test("A handler may call the library again: add, cancel, attach, suspend")
    func handlersCallBack() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let calls = Recorder<String>()
        let all = Gate()
        let operation = TaskOperation {}
        let victim = TaskOperation {}
        operation.addCompletionHandler {
            calls.record("first")
            victim.cancel()
            queue.isSuspended = true
            queue.isSuspended = false
            queue.addOperation { calls.record("added") }
            operation.addCompletionHandler {
                calls.record("attached")
                all.open()
            }
        }
        try queue.addOperation(operation)
        try queue.addOperation(victim)
        try await queue.waitUntilAllOperationsAreFinished()
        await all.pass()
        #expect(calls.events.sorted() == ["added", "attached", "first"])
        #expect(victim.failure is CancellationError)
    }

    @Test("A handler of a cancelled operation is not called within cancel()")
    func notWithinCancel() async {
        let inside = Recorder<Bool>()
        let called = Gate()
        let operation = TaskOperation {}
        operation.addCompletionHandler {
            inside.record(withinCancel)
            called.open()
        }
        $withinCancel.withValue(true) { operation.cancel() }
        await called.pass()
        #expect(inside.events == [false])
    }

    @Test("A late handler is not called within addCompletionHandler")
    func lateOneNotWithinTheCall() async throws {
        let operation = TaskOperation {}
        try operation.start()
        try await operation.value
        let inside = Recorder<Bool>()
        let called = Gate()
        $withinCancel.withValue(true) {
            operation.addCompletionHandler {
                inside.record(withinCancel)
                called.open()
            }
        }
        await called.pass()
        #expect(inside.events == [false])
    }

    @Test("Handlers with and without an outcome are called in one order")
    func bothKindsInOneOrder() async throws {
        let calls = Recorder<Int>()
        let operation = TaskOperation { 5 }
        operation.addCompletionHandler { calls.record(0) }
        operation.addCompletionHandler { calls.record((try? $0.get()) ?? -1) }
        operation.addCompletionHandler { calls.record(2) }
        try operation.start()
        _ = try await operation.value
        #expect(calls.events == [0, 5, 2])
    }

    @Test("The end that completion handlers of thousands of operations count is complete when the queue is empty")
    func countingHandlers() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let calls = ConcurrencyMeter()
        for _ in 0..<2000 {
            let operation = TaskOperation {}
            operation.addCompletionHandler { calls.enter() }
            try queue.addOperation(operation)
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(calls.total == 2000)
    }
}

/// True during a call. A detached task that the call creates does not inherit the value.
@TaskLocal private var withinCancel = false
