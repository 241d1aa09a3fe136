import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

private struct Refusal: Error, Equatable {}

@Suite("Operations for completion handlers", .inTurns)
struct CallbackOperationTests {
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)

    /// Stores a completion handler until it is called, as an old API does.
    private final class OldAPI<Success: Sendable>: Sendable {
        private let kept = Recorder<CompletionHandler<Success>>()
        let gate = Gate()

        func begin(_ completion: CompletionHandler<Success>) {
            kept.record(completion)
            Task { await gate.pass() }
        }

        var completion: CompletionHandler<Success> {
            get async {
                await gate.waitForArrivals(1)
                return kept.events[0]
            }
        }
    }

    @Test("the value that the completion gets is the operation's value")
    func value() async throws {
        let api = OldAPI<String>()
        let operation = queue.addOperation(callback: api.begin)
        await api.completion(returning: "done")
        #expect(try await operation.value == "done")
    }

    @Test("a completion may be called within the start of the work")
    func valueAtOnce() async throws {
        let operation = queue.addOperation { (completion: CompletionHandler<Int>) in completion(.success(7)) }
        #expect(try await operation.value == 7)
    }

    @Test("a closure with a parameter makes a callback operation")
    func trailingClosure() async throws {
        let operation = TaskOperation<Int>(name: "answer") { completion in completion(returning: 42) }
        try operation.start()
        #expect(try await operation.value == 42)
        let added: TaskOperation<Int> = queue.addOperation(name: "answer") { completion in
            let answer = 43
            completion(returning: answer)
        }
        #expect(try await added.value == 43)
    }

    @Test("an error ends the operation, whether it is passed or thrown by the start")
    func errors() async throws {
        let passed = queue.addOperation { (completion: CompletionHandler<Int>) in completion(throwing: Refusal()) }
        let thrown = queue.addOperation { (_: CompletionHandler<Int>) in throw Refusal() }
        await #expect(throws: Refusal()) { try await passed.value }
        await #expect(throws: Refusal()) { try await thrown.value }
    }

    @Test("a pair of value and error is an outcome")
    func pairs() async throws {
        func outcome(_ value: Int?, _ error: (any Error)?) async -> Result<Int, any Error> {
            await queue.addOperation { (completion: CompletionHandler<Int>) in completion(value, error) }.result
        }
        #expect(try await outcome(1, nil).get() == 1)
        await #expect(throws: Refusal()) { try await outcome(nil, Refusal()).get() }
        await #expect(throws: Refusal()) { try await outcome(1, Refusal()).get() }
        await #expect {
            try await outcome(nil, nil).get()
        } throws: { error in
            if case CallbackError.noOutcome = error { true } else { false }
        }
    }

    @Test("an operation without a value is completed by a call without one, or with an error")
    func withoutValue() async throws {
        try await queue.addOperation { (completion: CompletionHandler<Void>) in completion() }.value
        try await queue.addOperation { (completion: CompletionHandler<Void>) in completion(nil) }.value
        let failed = queue.addOperation { (completion: CompletionHandler<Void>) in completion(Refusal()) }
        await #expect(throws: Refusal()) { try await failed.value }
    }

    @Test("the operation executes, and holds its permit, until the completion is called")
    func holdsPermit() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let api = OldAPI<Void>()
        let operation = queue.addOperation(callback: api.begin)
        let completion = await api.completion
        let next = queue.addOperation {}
        #expect(operation.isExecuting)
        #expect(!next.isExecuting && !next.isFinished)
        completion()
        try await next.value
        #expect(operation.isFinished)
    }
}

// MARK: - Cancellation

extension CallbackOperationTests {
    @Test("cancelling calls the hook once, and the completion decides how the operation ends")
    func cancellationHook() async throws {
        let api = OldAPI<Int>()
        let hooks = Recorder<String>()
        let operation = queue.addOperation { (completion: CompletionHandler<Int>) in
            completion.onCancel { _ in hooks.record("replaced") }
            completion.onCancel { _ in hooks.record("called") }
            api.begin(completion)
        }
        let completion = await api.completion
        operation.cancel()
        operation.cancel()
        // The body may only now reach the point at which it learns of cancellations.
        await until { !hooks.events.isEmpty }
        #expect(hooks.events == ["called"])
        #expect(operation.isExecuting)
        completion(returning: 3)
        #expect(try await operation.value == 3)
        #expect(operation.isCancelled)
    }

    @Test("a handler that is set after the cancellation is called at once")
    func lateHook() async throws {
        let api = OldAPI<Int>()
        let operation = queue.addOperation(callback: api.begin)
        let completion = await api.completion
        operation.cancel()
        let hooks = Recorder<String>()
        completion.onCancel { completion in
            hooks.record("called")
            completion(throwing: CancellationError())
        }
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(hooks.events == ["called"])
    }

    @Test("a handler is not called, and is released, after the completion")
    func hookAfterCompletion() async throws {
        final class Request: Sendable {}
        let hooks = Recorder<String>()
        weak let weakRequest: Request?
        let operation: TaskOperation<Void>
        do {
            let request = Request()
            weakRequest = request
            operation = queue.addOperation { (completion: CompletionHandler<Void>) in
                completion.onCancel { [request] _ in hooks.record("\(request)") }
                completion()
                completion.onCancel { _ in hooks.record("after the completion") }
            }
        }
        try await operation.value
        operation.cancel()
        #expect(hooks.events.isEmpty)
        #expect(weakRequest == nil)
    }

    @Test("an operation that is cancelled before its start does not begin the work")
    func cancelledBeforeStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let starts = Recorder<String>()
        let operation = queue.addOperation { (completion: CompletionHandler<Void>) in
            starts.record("started")
            completion()
        }
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events.isEmpty)
    }
}

// MARK: - Misuse

extension CallbackOperationTests {
    /// The reports that name an operation. The handler applies to the whole process, so it is set once for all tests.
    private static let reports: Recorder<String> = {
        let reports = Recorder<String>()
        // Tests of another module may have set a handler, which still needs its reports.
        let former = MisuseReport.handler
        MisuseReport.handler = { message in
            former(message)
            reports.record(message)
        }
        return reports
    }()

    private func reports(naming name: String) -> [String] {
        Self.reports.events.filter { $0.contains("\"\(name)\"") }
    }

    @Test("the handler remains the same after any number of accesses")
    func manyAccesses() {
        _ = Self.reports
        // With one more wrapper for each access, the call would overflow the stack.
        for _ in 0..<300_000 { _ = MisuseReport.handler }
        MisuseReport.report("\"many accesses\"")
        #expect(reports(naming: "many accesses").count == 1)
    }

    @Test("a second call is ignored, and reported once with the operation's name")
    func calledTwice() async throws {
        #expect(reports(naming: "twice").isEmpty)
        let operation = queue.addOperation(name: "twice") { (completion: CompletionHandler<Int>) in
            completion(returning: 1)
            completion(returning: 2)
            completion(throwing: Refusal())
        }
        #expect(try await operation.value == 1)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(reports(naming: "twice").count == 1)
    }

    @Test("without a handler, a report is a line on standard error", .prompt)
    func reportedOnStandardError() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let operation = TaskOperation<Int>(name: "loud") { completion in
                completion(returning: 1)
                completion(returning: 2)
            }
            try operation.start()
            _ = try await operation.value
        }
        #expect(result.errorText.contains("The completion of \"loud\" was called more than once."))
    }

    @Test("of calls from many threads, one counts and one report is made")
    func calledConcurrently() async throws {
        _ = Self.reports
        for round in 0..<50 {
            let api = OldAPI<Int>()
            let operation = queue.addOperation(name: "storm \(round)", callback: api.begin)
            let completion = await api.completion
            await concurrentPerform(over: 0..<8, width: 8) { completion(returning: $0) }
            #expect(try await (0..<8).contains(operation.value))
            #expect(reports(naming: "storm \(round)").count == 1)
        }
    }

    @Test("a completion that is released without a call fails the operation by name")
    func released() async throws {
        let operation = queue.addOperation(name: "forgotten") { (_: CompletionHandler<Int>) in }
        let error = await #expect(throws: CallbackError.self) { try await operation.value }
        guard case .completionReleased(let name)? = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(name == "\"forgotten\"")
        #expect("\(error!)".contains("\"forgotten\""))
    }

    @Test("a completion that is released later fails the operation, also where a hook is set")
    func releasedLater() async throws {
        let gate = Gate()
        let operation = queue.addOperation(name: "dropped") { (completion: CompletionHandler<Int>) in
            completion.onCancel { _ in }
            Task {
                await gate.pass()
                _ = completion
            }
        }
        await gate.waitForArrivals(1)
        #expect(operation.isExecuting)
        gate.open()
        await #expect(throws: CallbackError.self) { try await operation.value }
    }

    @Test("a completion that is released fails the operation, also where the hook may call it")
    func releasedWithHookThatCalls() async throws {
        let operation = queue.addOperation { (completion: CompletionHandler<Int>) in
            completion.onCancel { completion in completion(returning: 0) }
        }
        await #expect(throws: CallbackError.self) { try await operation.value }
    }

    @Test("a hook may call the completion that it is given")
    func hookThatCalls() async throws {
        let api = OldAPI<Int>()
        let operation = queue.addOperation { (completion: CompletionHandler<Int>) in
            completion.onCancel { completion in completion(returning: 42) }
            api.begin(completion)
        }
        let completion = await api.completion
        operation.cancel()
        #expect(try await operation.value == 42)
        withExtendedLifetime(completion) {}
    }

    @Test("a completion that was called can be released without a report")
    func releasedAfterCall() async throws {
        _ = Self.reports
        let operation = queue.addOperation(name: "orderly") { (completion: CompletionHandler<Int>) in
            completion(returning: 1)
        }
        #expect(try await operation.value == 1)
        #expect(reports(naming: "orderly").isEmpty)
    }
}
