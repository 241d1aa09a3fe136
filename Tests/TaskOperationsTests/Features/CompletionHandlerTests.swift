import Dispatch
import Foundation
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Completion handlers may call the library", .inTurns, .endsInTime)
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

    private static let limits: [OperationOptions] = [
        [], .limit(AsyncSemaphore(capacity: 1)), .timeout(untilEnd: .seconds(3600)),
    ]

    @Test("A loop that cancels operations creates few tasks for their handlers", arguments: limits)
    func fewTasks(options: OperationOptions) async {
        let executor = HoldingExecutor()
        let queue = TaskOperationQueue(.init(executor: executor))
        let calls = Recorder<Int>()
        for number in 0..<1000 {
            let operation = queue.addOperation(options) {}
            operation.addCompletionHandler { calls.record(number) }
            operation.cancel()
        }
        #expect(executor.priorities.count < 100, "\(executor.priorities.count) tasks")
        executor.letGo()
        await until { calls.events.count == 1000 }
        #expect(calls.events.sorted() == Array(0..<1000))
    }

    @Test("A loop that cancels operations without handlers creates few tasks", arguments: limits)
    func fewTasksWithoutHandlers(options: OperationOptions) async throws {
        let executor = HoldingExecutor()
        let queue = TaskOperationQueue(.init(executor: executor))
        for _ in 0..<1000 { queue.addOperation(options) {}.cancel() }
        #expect(executor.priorities.count < 100, "\(executor.priorities.count) tasks")
        executor.letGo()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A handler that waits for a handler of another cancelled operation does not block it")
    func handlersAtOnce() async {
        let queue = TaskOperationQueue(.init(isSuspended: true, executor: ThreadPerJob()))
        let (started, calls) = (DispatchSemaphore(value: 0), AsyncGroup())
        for isFirst in [true, false] {
            let operation = queue.addOperation {}
            calls.enter()
            operation.addCompletionHandler {
                if isFirst { block(on: started) } else { started.signal() }
                calls.leave()
            }
            operation.cancel()
        }
        await calls.wait()
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
        await until { calls.events.count == 3 }
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

/// Runs each job on a new thread.
private final class ThreadPerJob: HandlerExecutor {
    var handlerExecutor: any TaskExecutor { self }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }.start()
    }
}
