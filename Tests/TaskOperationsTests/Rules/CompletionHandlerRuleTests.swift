import Dispatch
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Rule 17: completion handlers", .inTurns, .endsInTime)
struct CompletionHandlerRuleTests {
    @Test("A handler runs exactly once, after the state is finished, for any outcome", .schedules(20))
    func onceAfterTheEnd() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let succeeding = queue.addOperation {}
        let failing = queue.addOperation { throw WorkFailed() }
        let cancelled = queue.addOperation {}
        let calls = Recorder<String>()
        for (name, operation) in [("succeeding", succeeding), ("failing", failing), ("cancelled", cancelled)] {
            operation.addCompletionHandler { calls.record("\(name) \(operation.state)") }
        }
        cancelled.cancel()
        queue.isSuspended = false
        for operation in [succeeding, failing, cancelled] { _ = await operation.result }
        await until { calls.events.count >= 3 }
        await untilOthersWait()
        #expect(calls.events.sorted() == ["cancelled finished", "failing finished", "succeeding finished"])
    }

    @Test("Handlers are called in the order of adding, before awaiting tasks continue")
    func beforeWaiters() async throws {
        for cancels in [false, true] {
            let calls = Recorder<Int>()
            let operation = TaskOperation {}
            for number in 0..<10 { operation.addCompletionHandler { calls.record(number) } }
            let waiting = Task {
                _ = await operation.result
                return calls.events
            }
            await until { operation.waiterCount > 0 }
            if cancels { operation.cancel() } else { try operation.start() }
            #expect(await waiting.value == Array(0..<10))
        }
    }

    @Test("Handlers have been called before a dependent starts")
    func beforeDependents() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let calls = Recorder<Int>()
        let operation = queue.addOperation {}
        operation.addCompletionHandler { calls.record(1) }
        let dependent = TaskOperationQueue().addOperation(dependencies: [operation]) { calls.events }
        queue.isSuspended = false
        #expect(try await dependent.value == [1])
    }

    @Test("Of a cancelled operation too, handlers have been called before a dependent starts")
    func beforeDependentsOfACancelledOne() async throws {
        var startedTooEarly = 0
        for _ in 0..<500 {
            let calls = Recorder<Int>()
            let operation = TaskOperation {}
            operation.addCompletionHandler { calls.record(1) }
            let dependent = TaskOperationQueue().addOperation(dependencies: [operation]) { calls.events }
            operation.cancel()
            if try await dependent.value != [1] { startedTooEarly += 1 }
        }
        #expect(startedTooEarly == 0)
    }

    @Test("A handler gets the outcome, typed")
    func handlerGetsTheOutcome() async throws {
        let outcomes = Recorder<Result<Int, any Error>>()
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operations = [
            queue.addOperation { 1 }, queue.addOperation { throw WorkFailed() }, queue.addOperation { 3 },
        ]
        for operation in operations { operation.addCompletionHandler { outcomes.record($0) } }
        operations[2].cancel()
        queue.isSuspended = false
        for operation in operations { _ = await operation.result }
        await until { outcomes.events.count == 3 }
        #expect(outcomes.events.compactMap { try? $0.get() } == [1])
        #expect(outcomes.events.count { (try? $0.get()) == nil } == 2)
    }

    @Test("One that is added after the end is called, once")
    func lateHandler() async throws {
        let operation = TaskOperationQueue().addOperation { 1 }
        _ = try await operation.value
        let called = Gate()
        operation.addCompletionHandler { called.open() }
        await called.pass()
        let outcome = await withCheckedContinuation { continuation in
            operation.addCompletionHandler { continuation.resume(returning: $0) }
        }
        #expect(try outcome.get() == 1)
    }

    @Test("The handler of an operation that was cancelled before its start does not wait for a busy executor")
    func busyExecutor() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: SingleThreadExecutor()))
        let release = DispatchSemaphore(value: 0)
        let busy = queue.addOperation { block(on: release) }
        let cancelled = queue.addOperation {}
        let called = Gate()
        cancelled.addCompletionHandler { called.open() }
        cancelled.cancel()
        await called.pass()
        release.signal()
        try await busy.value
    }

    @Test("Where adding races with the end, each handler is called exactly once")
    func racingWithTheEnd() async throws {
        for _ in 0..<300 {
            let calls = Recorder<Int>()
            let operation = TaskOperation { await Task.yield() }
            try operation.start()
            for number in 0..<20 { operation.addCompletionHandler { calls.record(number) } }
            await until { calls.events.count == 20 }
            #expect(calls.events.sorted() == Array(0..<20))
        }
    }

    private func block(on semaphore: DispatchSemaphore) { semaphore.wait() }
}
