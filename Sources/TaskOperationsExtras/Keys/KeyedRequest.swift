import Synchronization
public import TaskOperations

/// One caller's request for an operation that several callers share.
///
/// `cancel()` ends the request. Releasing the request has no effect.
public final class KeyedRequest<Value: Sendable>: Sendable {
    private let shared: SharedOperation
    private let state: Lock<KeyedRequestState>

    init(_ shared: SharedOperation, at level: PriorityLevel) {
        self.shared = shared
        state = Lock(KeyedRequestState(level: level))
    }

    /// The shared operation, for use as a dependency. Cancelling the operation cancels all its requests.
    public var operation: TaskOperation<Value> {
        // All requests of a `KeyedOperations` have the same type of value, and so have their operations.
        unsafeDowncast(shared.operation, to: TaskOperation<Value>.self)
    }

    /// Whether `cancel()` was called before the operation was finished.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends the request. Tasks that await its value throw `CancellationError` at once. Other requests of the key
    /// continue. If there are no other requests, the operation is cancelled. If the operation is finished, the call only
    /// keeps its value from handlers of `whenFinished(_:)` that were not called yet.
    public func cancel() {
        let isFinished = shared.operation.isFinished
        let (waits, listeners, effect) = state.withLock { state in
            state.delivers = false
            if isFinished || state.isCancelled {
                return (Set<Int>(), [ProgressListener](), SharedOperation.Effect.none)
            }
            state.isCancelled = true
            return (state.waits, state.listeners.all, shared.leave(from: state.level))
        }
        for wait in waits.sorted() { shared.operation.leaveWait(wait) }
        for listener in listeners { listener.wake() }
        shared.perform(effect)
    }

    /// The priority of this request. The operation has the highest priority of its requests that are not cancelled.
    public var priority: TaskPriority {
        get { state.withLock { $0.level }.taskPriority }
        set {
            let level = PriorityLevel(newValue)
            let effect = state.withLock { state -> SharedOperation.Effect in
                if state.isCancelled || state.level == level { return .none }
                defer { state.level = level }
                return shared.move(from: state.level, to: level)
            }
            shared.perform(effect)
        }
    }
}

// MARK: - Waiting

extension KeyedRequest {
    /// Waits for the value, like `TaskOperation.value`. Cancelling the task ends the wait, but does not cancel the
    /// request.
    ///
    /// - Throws: The error that the body threw.
    ///   - `CancellationError` if the request, the operation or the task is cancelled before the operation ends.
    ///   - `TaskOperationError.queueShutDown` if the queue was shut down.
    ///   - `TaskOperationError.waitCycle` if a body awaits an operation that cannot end before the body does.
    public var value: Value {
        get async throws {
            if !shared.operation.isFinished { try await wait(endsEarly: true) }
            return try finishedValue()
        }
    }

    /// Waits for the outcome. Cancelling the request ends the wait. Cancelling the task does not.
    public var result: Result<Value, any Error> {
        get async {
            do {
                if !shared.operation.isFinished { try await wait(endsEarly: false) }
                return .success(try finishedValue())
            } catch {
                return .failure(error)
            }
        }
    }

    /// Calls a handler once with the outcome, on the actor of the caller, in a task of its own.
    ///
    /// ```swift
    /// request = images.request(url)
    /// request?.whenFinished { [weak self] result in self?.show(try? result.get()) }
    /// // …
    /// request?.cancel()  // the cell shows another image
    /// ```
    ///
    /// After `cancel()` has returned on this actor, the handler receives `CancellationError` instead of a value, even if the
    /// operation was finished.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the handler is called. The default is the actor of the caller.
    ///   - handler: Receives the outcome.
    public func whenFinished(
        isolation: isolated (any Actor)? = #isolation, _ handler: @escaping (Result<Value, any Error>) -> Void
    ) {
        Task(priority: priority) {
            // Captured, so that the task has the isolation of the caller.
            _ = isolation
            let result = await result
            handler(state.withLock { $0.delivers } ? result : .failure(CancellationError()))
        }
    }

    /// Waits for the value. Cancelling the task cancels the request.
    var valueOfCaller: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await result.get()
            } onCancel: {
                cancel()
            }
        }
    }

    private func wait(endsEarly: Bool) async throws {
        let (number, operation) = (AnyTaskOperation.nextWaitNumber(), shared.operation)
        let hasLeft = state.withLock { state in
            if !state.isCancelled { state.waits.insert(number) }
            return state.isCancelled
        }
        if hasLeft { throw CancellationError() }
        defer { _ = state.withLock { $0.waits.remove(number) } }
        let isOver = try await operation.wait(number: number, endsEarly: endsEarly) { isCancelled }
        if !isOver { throw CancellationError() }
    }

    /// Returns the value of the finished operation. Throws `CancellationError` if the request is cancelled.
    private func finishedValue() throws -> Value {
        if isCancelled { throw CancellationError() }
        return try operation.finishedValue()
    }
}

private struct KeyedRequestState: Sendable {
    var level: PriorityLevel
    var isCancelled = false
    /// Whether handlers receive a value: `cancel()` was not called, not even after the end.
    var delivers = true
    /// The numbers of the waits that are in progress.
    var waits: Set<Int> = []
    var listeners = ProgressListeners()
}

// MARK: - Progress

extension KeyedRequest {
    /// The progress of the shared operation. The sequence ends when the operation is finished or the request is
    /// cancelled.
    public var progress: ProgressUpdates {
        ProgressUpdates(sources: operation.progressSources + [self], operation: operation) { [self] sources in
            isCancelled ? nil : ProgressUnit.sum(of: sources)
        }
    }
}

extension KeyedRequest: ProgressSource {
    func add(_ listener: ProgressListener) { state.withLock { $0.listeners.add(listener) } }

    func remove(_ listener: ProgressListener) { state.withLock { $0.listeners.remove(listener) } }
}
