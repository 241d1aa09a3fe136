import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

private struct Refusal: Error, Equatable {}

@Suite("Completion handlers as async functions", .inTurns)
struct WithCompletionHandlerTests {
    @Test("values and errors of any type are returned")
    func outcomes() async throws {
        #expect(try await withCompletionHandler { $0(returning: 1) } == 1)
        #expect(try await withCompletionHandler { $0(Result<Int, Refusal>.success(2)) } == 2)
        #expect(try await withCompletionHandler { $0(Result<Int, Never>.success(3)) } == 3)
        #expect(try await withCompletionHandler { $0(Result<Int, any Error>.success(4)) } == 4)
        #expect(try await withCompletionHandler { $0("five", nil) } == "five")
        try await withCompletionHandler { (completion: CompletionHandler<Void>) in completion() }
        await #expect(throws: Refusal()) {
            try await withCompletionHandler { $0(Result<Int, Refusal>.failure(Refusal())) }
        }
        await #expect(throws: Refusal()) {
            try await withCompletionHandler { (_: CompletionHandler<Int>) in throw Refusal() }
        }
    }

    @Test("the starting closure may use values that are not Sendable, and runs in the caller's isolation")
    @MainActor
    func inPlace() async throws {
        var starts = 0
        let value = try await withCompletionHandler { (completion: CompletionHandler<Int>) in
            MainActor.assertIsolated()
            starts += 1
            Task.detached { completion(returning: 5) }
        }
        #expect((value, starts) == (5, 1))
    }

    @Test("a completion that is dropped is a failure that names the work, or the place of the call")
    func dropped() async {
        let named = await #expect(throws: CallbackError.self) {
            try await withCompletionHandler(name: "page") { (_: CompletionHandler<Int>) in }
        }
        #expect("\(named!)".contains("\"page\""))
        let unnamed = await #expect(throws: CallbackError.self) {
            try await withCompletionHandler { (_: CompletionHandler<Int>) in }
        }
        #expect("\(unnamed!)".contains("WithCompletionHandlerTests.swift:"))
    }

    @Test("cancelling calls the handler, which may complete the work without having captured the completion")
    func cancellation() async throws {
        let hasStarted = Gate()
        let kept = Recorder<CompletionHandler<Int>>()
        let task = Task {
            try await withCompletionHandler { (completion: CompletionHandler<Int>) in
                kept.record(completion)
                completion.onCancel { completion in completion(throwing: CancellationError()) }
                Task { await hasStarted.pass() }
            }
        }
        await hasStarted.waitForArrivals(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        hasStarted.open()
    }

    @Test("a completion with such a handler is known to be dropped")
    func droppedWithHandler() async {
        await #expect(throws: CallbackError.self) {
            try await withCompletionHandler { (completion: CompletionHandler<Int>) in
                completion.onCancel { completion in completion(throwing: CancellationError()) }
            }
        }
    }

    @Test("dropping, completing and cancelling race, and each call ends once")
    func storm() async {
        await concurrentPerform(over: 0..<3000, width: 8) { number in
            let task = Task {
                try await withCompletionHandler { (completion: CompletionHandler<Int>) in
                    completion.onCancel { completion in completion(throwing: CancellationError()) }
                    for _ in 0..<(number % 2) { Task { completion(returning: number) } }
                }
            }
            if number % 3 == 0 { task.cancel() }
            _ = await task.result
        }
    }
}
