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
        enter()
        if !operation.addHandlerUnlessFinished({ _ in self.leave() }) { leave() }
    }
}

// MARK: - Waiting

extension AsyncGroup {
    /// Waits until the group is empty.
    ///
    /// Cancelling the task does not end the wait, because the code after the wait relies on an empty group. If a
    /// cancellation must end the wait, use `waitUnlessCancelled()`.
    public func wait() async {
        let end = Promise<Result<Void, any Error>>()
        whenEmpty { end.provide(.success(())) }
        _ = await AnyTaskOperation.recordingWait(.group, self) { await end.value }
    }

    /// Waits until the group is empty or the task is cancelled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the group is empty.
    public func waitUnlessCancelled() async throws(CancellationError) {
        do {
            try await waitOrGiveUp { end in try await end.value.get() }
        } catch {
            throw CancellationError()
        }
    }

    /// Waits until the group is empty, the time is up, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - timeout: The maximum duration of the wait.
    ///   - clock: The clock that measures the duration.
    /// - Throws: `WaitTimeoutError` if the time is up before the group is empty. `CancellationError` if the task is
    ///   cancelled before the group is empty.
    public func wait(timeout: Duration, clock: any Clock<Duration> = ContinuousClock()) async throws {
        try await waitOrGiveUp { end in
            try await withTimeLimit(timeout, clock: clock) {
                try await end.value.get()
            } onTimeout: {
                end.provide(.failure(WaitTimeoutError("an AsyncGroup to be empty", timeout: timeout)))
            }
        }
    }

    private func waitOrGiveUp(_ wait: (Promise<Result<Void, any Error>>) async throws -> Void) async throws {
        let end = Promise<Result<Void, any Error>>()
        let number = whenEmpty { end.provide(.success(())) }
        defer { forgetHandler(number) }
        try await AnyTaskOperation.recordingWait(.group, self) {
            try await withTaskCancellationHandler {
                try await wait(end)
            } onCancel: {
                end.provide(.failure(CancellationError()))
            }
        }
    }

    private func forgetHandler(_ number: Int) {
        // Frees the handler after unlocking.
        _ = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: number)
            // Frees unused memory after many waits have ended.
            if state.handlers.capacity > 64, state.handlers.count < state.handlers.capacity / 4 {
                state.handlers = state.handlers.filter { _ in true }
            }
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

extension AsyncGroup: AwaitedSubject {
    package var waitDescription: String { "the end of \(state.withLock { $0.count }) in a group" }
}
