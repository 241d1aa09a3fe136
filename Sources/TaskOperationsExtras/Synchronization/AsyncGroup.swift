import Synchronization
public import TaskOperations

/// A `DispatchGroup` for tasks. It counts work in progress, and resumes waiting tasks when the count is 0. It blocks no
/// thread.
///
/// ```swift
/// let group = AsyncGroup()
/// for url in urls {
///     group.enter()
///     load(url) { _ in group.leave() }
/// }
/// await group.wait()
/// ```
///
/// Balance each `enter()` by one `leave()`. You can use a group again after it was empty.
public final class AsyncGroup: Sendable {
    private struct State: Sendable {
        var count = 0
        /// The handlers to call when the group becomes empty, in the order of their numbers.
        var handlers: [Int: Handler] = [:]
        var lastNumber = 0
        /// The operations in the group. The references are weak, because the handlers of these operations retain the
        /// group.
        var operations: [ObjectIdentifier: WeakOperation] = [:]
        /// An operation that depends on the operations in the group; nil if no body waits.
        var whole: TaskOperation<Void>?
        var waitingBodyCount = 0
    }

    private struct WeakOperation: Sendable {
        weak let operation: AnyTaskOperation?
    }

    private typealias Handler = @Sendable () -> Void

    private let state = Lock(State())

    /// Creates an empty group.
    public init() {}

    /// The number of `enter()` calls that no `leave()` has balanced yet.
    public var count: Int { state.withLock { $0.count } }

    /// Increments the count. Call this when work begins.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// Decrements the count. Call this when work has ended. When the count is 0, all waiting tasks resume. A call
    /// without a matching `enter()` stops the process with a message.
    public func leave() {
        let (count, handlers) = state.withLock { state in
            state.count -= 1
            if state.count != 0 { return (state.count, [Handler]()) }
            defer { state.handlers = [:] }
            return (0, state.handlers.sorted { $0.key < $1.key }.map(\.value))
        }
        require(
            count >= 0, "leave() was called more often than enter(). Call leave() exactly once for each enter().")
        for handler in handlers { handler() }
    }

    /// Enters the group for an operation, and leaves the group when the operation has finished, with any outcome. The
    /// group is left before dependents of the operation start, and before tasks that await the operation resume.
    public func enter(for operation: AnyTaskOperation) {
        let whole = state.withLock { state in
            state.count += 1
            state.operations[ObjectIdentifier(operation)] = WeakOperation(operation: operation)
            return state.whole
        }
        // Refused if the operation waits for this group.
        try? whole?.addDependency(operation)
        if !operation.addHandlerUnlessFinished({ self.leave(for: $0) }) { leave(for: operation) }
    }

    private func leave(for operation: AnyTaskOperation) {
        let whole = state.withLock { state in
            state.operations[ObjectIdentifier(operation)] = nil
            // Frees unused memory after many operations have left.
            if state.operations.isEmpty, state.operations.capacity > 64 { state.operations = [:] }
            return state.whole
        }
        // The call never throws, because `whole` never starts.
        try? whole?.removeDependency(operation)
        leave()
    }
}

// MARK: - Waiting

extension AsyncGroup {
    /// Waits until the group is empty.
    ///
    /// If a body waits, the operations that have entered with `enter(for:)` inherit its priority. The body lends its
    /// permit if one of them needs the permit. Such a wait takes linear time in the number of these operations. The
    /// library does not know the end of work that has entered with `enter()`.
    ///
    /// Cancelling the task does not end the wait, because the code after the wait relies on an empty group. If a
    /// cancellation must end the wait, use `waitUnlessCancelled()`. If an operation of the group waits for the calling
    /// body, the wait never ends. Only `wait(timeout:clock:)` throws an error in this case.
    public func wait() async {
        let end = Promise<Result<Void, any Error>>()
        whenEmpty { end.provide(.success(())) }
        await whileAwaited { _ = await end.value }
    }

    /// Waits until the group is empty or the task is cancelled. See `wait()`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the group is empty.
    public func waitUnlessCancelled() async throws(CancellationError) {
        let end = Promise<Result<Void, any Error>>()
        let number = whenEmpty { end.provide(.success(())) }
        defer { forgetHandler(number) }
        var result = Result<Void, any Error>.success(())
        await whileAwaited { result = await Self.result(of: end) { try await end.value.get() } }
        if case .failure = result { throw CancellationError() }
    }

    /// Waits until the group is empty, the time is up, or the task is cancelled. See `wait()`.
    ///
    /// - Parameters:
    ///   - timeout: The maximum duration of the wait.
    ///   - clock: The clock that measures the duration.
    /// - Throws: `TaskOperationError.timedOut` if the time is up before the group is empty. `CancellationError` if the
    ///   task is cancelled before the group is empty. `TaskOperationError.waitCycle` if the group contains an operation
    ///   that waits for the calling body.
    public func wait(timeout: Duration, clock: any Clock<Duration> = ContinuousClock()) async throws {
        let end = Promise<Result<Void, any Error>>()
        let number = whenEmpty { end.provide(.success(())) }
        defer { forgetHandler(number) }
        var result = Result<Void, any Error>.success(())
        try await whileAwaitedUnlessRefused {
            result = await Self.result(of: end) {
                try await withTimeoutHandler(timeout, clock: clock) {
                    try await end.value.get()
                } onTimeout: {
                    end.provide(
                        .failure(TaskOperationError.timedOut(.wait(for: "an AsyncGroup to be empty"), after: timeout)))
                }
            }
        }
        try result.get()
    }

    /// Performs a wait that ends early if the task is cancelled.
    private static func result(
        of end: Promise<Result<Void, any Error>>, _ wait: () async throws -> Void
    ) async -> Result<Void, any Error> {
        do {
            try await withTaskCancellationHandler {
                try await wait()
            } onCancel: {
                end.provide(.failure(CancellationError()))
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Performs a wait for the end of the group. If the wait would close a cycle, the wait has no edge.
    private func whileAwaited(_ wait: () async -> Void) async {
        do {
            try await whileAwaitedUnlessRefused(wait)
        } catch {
            await AnyTaskOperation.recordingWait(.group, self.waitDescription, wait: wait)
        }
    }

    private func whileAwaitedUnlessRefused(_ wait: () async -> Void) async throws(TaskOperationError) {
        // Without a body, the wait has no edge.
        if AnyTaskOperation.current == nil || count == 0 { return await wait() }
        let whole = beginWaitOfBody()
        defer { endWaitOfBody() }
        try await whole.whileAwaited(.group, self.waitDescription, wait: wait)
    }

    private func beginWaitOfBody() -> TaskOperation<Void> {
        let made = TaskOperation<Void>.placeholder(name: "group")
        let (whole, operations) = state.withLock { state in
            state.waitingBodyCount += 1
            if let present = state.whole { return (present, [WeakOperation]()) }
            state.whole = made
            return (made, Array(state.operations.values))
        }
        for case let operation? in operations.map(\.operation) {
            try? whole.addDependency(operation)
            // The operation may have left before it became a dependency.
            if operation.isFinished { try? whole.removeDependency(operation) }
        }
        return whole
    }

    private func endWaitOfBody() {
        let whole = state.withLock { state in
            state.waitingBodyCount -= 1
            return state.waitingBodyCount == 0 ? state.whole.take() : nil
        }
        extendLifetime(whole)
    }

    private func forgetHandler(_ number: Int) {
        // Frees the handler after unlocking.
        _ = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: number)
            state.handlers.shrink()
            return handler
        }
    }

    /// Runs work in a new task when the group is empty. If the group is already empty, starts the task at once.
    ///
    /// - Parameters:
    ///   - priority: The priority of the new task. The default is the priority of the calling task.
    ///   - work: The work.
    public func notify(priority: TaskPriority? = nil, execute work: @escaping @Sendable () async -> Void) {
        let priority = priority ?? Task.currentPriority
        whenEmpty {
            Task.detached(priority: priority) { await work() }
        }
    }

    /// Calls a handler when the group is empty. The handler must be short and must not call user code. Returns the
    /// number of the handler.
    @discardableResult
    private func whenEmpty(_ handler: @escaping Handler) -> Int {
        let (number, isEmpty) = state.withLock { state in
            state.lastNumber += 1
            if state.count != 0 { state.handlers[state.lastNumber] = handler }
            return (state.lastNumber, state.count == 0)
        }
        if isEmpty { handler() }
        return number
    }
}

extension AsyncGroup {
    private var waitDescription: String { "the end of \(state.withLock { $0.count }) in a group" }
}
