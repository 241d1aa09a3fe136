@_spi(Lock) public import TaskOperations

/// Counts work that is under way, and tells when none is: a `DispatchGroup` for tasks, which blocks no thread.
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
/// Each `enter()` is to be balanced by one `leave()`. A group can be used again after it was empty.
public final class AsyncGroup: Sendable {
    private struct State: Sendable {
        var count = 0
        /// Called when the group becomes empty, in the order of their numbers.
        var handlers: [Int: Handler] = [:]
        var lastNumber = 0
    }

    private typealias Handler = @Sendable () -> Void

    private let state = Lock(State())

    /// Makes an empty group.
    public init() {}

    /// How often the group was entered and not left yet.
    public var count: Int { state.withLock { $0.count } }

    /// Counts a piece of work that begins.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// Counts the end of a piece of work. The last one resumes all waiting tasks. Leaving more often than entering stops the
    /// process with a message.
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

    /// Enters the group for an operation, which leaves it when it has finished, with any outcome. It leaves before dependents
    /// start and before tasks that await the operation continue.
    public func enter(for operation: AnyTaskOperation) {
        enter()
        if !operation.addHandlerUnlessFinished({ _ in self.leave() }) { leave() }
    }
}

// MARK: - Waiting

extension AsyncGroup {
    /// Waits until the group is empty.
    ///
    /// Cancelling the task does not end the wait, because the code after it relies on an empty group. `waitUnlessCancelled()`
    /// ends then.
    public func wait() async {
        let end = OneShot<Result<Void, any Error>>()
        whenEmpty { end.provide(.success(())) }
        _ = await AnyTaskOperation.noting(.group, self) { await end.value }
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
    ///   - timeout: The longest duration of the wait.
    ///   - clock: The clock that measures it.
    /// - Throws: `WaitTimeoutError` if the time is over, and `CancellationError` if the task is cancelled, before the
    ///   group is empty.
    public func wait(timeout: Duration, clock: any Clock<Duration> = ContinuousClock()) async throws {
        try await waitOrGiveUp { end in
            try await withTimeLimit(timeout, clock: clock) {
                try await end.value.get()
            } onTimeout: {
                end.provide(.failure(WaitTimeoutError("an AsyncGroup to be empty", timeout: timeout)))
            }
        }
    }

    private func waitOrGiveUp(_ wait: (OneShot<Result<Void, any Error>>) async throws -> Void) async throws {
        let end = OneShot<Result<Void, any Error>>()
        let number = whenEmpty { end.provide(.success(())) }
        defer { forgetHandler(number) }
        try await AnyTaskOperation.noting(.group, self) {
            try await withTaskCancellationHandler {
                try await wait(end)
            } onCancel: {
                end.provide(.failure(CancellationError()))
            }
        }
    }

    private func forgetHandler(_ number: Int) {
        // Freed after the lock is left.
        _ = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: number)
            // Releases the memory that a burst of waits has left.
            if state.handlers.capacity > 64, state.handlers.count < state.handlers.capacity / 4 {
                state.handlers = state.handlers.filter { _ in true }
            }
            return handler
        }
    }

    /// Runs work in a task of its own when the group is empty; at once if it is empty now.
    ///
    /// - Parameters:
    ///   - priority: The priority of the task; that of the caller's if none is given.
    ///   - work: The work.
    public func notify(priority: TaskPriority? = nil, execute work: @escaping @Sendable () async -> Void) {
        let priority = priority ?? Task.currentPriority
        whenEmpty {
            Task.detached(priority: priority) { await work() }
        }
    }

    /// Calls a handler, which is short and not a user's, once the group is empty. Returns the handler's number.
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
