public import Observation
public import TaskOperations

/// Runs the latest of several operations, and shows its result on the main actor.
///
/// Use it for a screen whose input changes faster than its answers arrive, such as a search:
///
/// ```swift
/// @MainActor @Observable final class Search {
///     private(set) var hits: [String] = []
///     let latest = LatestOperation(settling: .milliseconds(300))
///
///     func queryChanged(to query: String) {
///         latest.start { try await find(query) } deliver: { [weak self] result in
///             self?.hits = (try? result.get()) ?? []
///         }
///     }
/// }
/// ```
///
/// After `cancel()` or a newer `start` has returned, nothing of an older operation is delivered, even if that operation
/// has finished. With a pause, this holds from the end of the newer operation's pause: the older operation continues until
/// then, and its outcome can be delivered. The object cancels its operations when it is released. So let `deliver` capture
/// the owner weakly.
///
/// To wait for the end of a cancelled body before the next body begins, pass a queue with a width of 1. For work off
/// the main actor, use `KeyedOperations` with `existing: .replace`. See <doc:TheLatestOnly>.
@MainActor @Observable
public final class LatestOperation {
    private struct Run: Sendable {
        let operation: AnyTaskOperation
        let pause: SettlingPause?

        /// - Parameter successor: The run that replaces this one, and that may have the same pause.
        func cancel(for successor: Run? = nil) {
            operation.cancel()
            if pause !== successor?.pause { pause?.finish() }
        }
    }

    /// Whether an operation pauses, waits, executes or has a result that is not delivered yet. The value does not change
    /// if an operation replaces another one.
    public private(set) var isRunning = false

    @ObservationIgnored private let queue: TaskOperationQueue
    @ObservationIgnored private let pause: Duration
    @ObservationIgnored private let longest: Duration?
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private var current: Run?
    /// The operation that continues during the pause of `current`. The end of this pause cancels it.
    @ObservationIgnored private var older: AnyTaskOperation?

    /// Creates an object without an operation.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations. It can contain other operations, too. By default, a queue of its
    ///     own.
    ///   - pause: The time between `start` and the start of the operation. Each `start` begins the pause again. A
    ///     duration that is not positive means no pause.
    ///   - longest: The time from the first `start` to the end of the pause, however often the pause begins again; nil for
    ///     no limit.
    ///   - clock: The clock that measures the pause.
    public nonisolated init(
        queue: TaskOperationQueue = TaskOperationQueue(name: "latest"), settling pause: Duration = .zero,
        atMost longest: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.queue = queue
        self.pause = pause
        self.longest = longest
        self.clock = clock
    }

    deinit { current?.cancel() }

    /// Starts an operation after the pause. The present operation is cancelled at the end of the pause, and at once if its
    /// own pause is not over.
    ///
    /// - Parameters:
    ///   - name: The name of the operation in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - body: The work. It does not run on the main actor, unless the closure is isolated to it.
    ///   - deliver: Receives the outcome of the operation, on the main actor, unless `cancel()`, or a newer `start` and its
    ///     pause, came before. `isRunning` is then already false, unless a newer operation pauses. The outcome is
    ///     `CancellationError` only if the operation was cancelled by other means.
    /// - Returns: The operation, for tests and dependencies. Awaiting its value bypasses the rule that nothing of an
    ///   older operation is delivered.
    @discardableResult
    public func start<Value: Sendable>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Value>.Body,
        deliver: @escaping @MainActor (Result<Value, any Error>) -> Void
    ) -> TaskOperation<Value> {
        // The present pause begins again, so that its longest length counts from its first beginning.
        let present = current?.pause.flatMap { $0.begin(self.pause, clock: clock) ? $0 : nil }
        let began = present == nil ? current?.operation : nil
        let pause = present ?? SettlingPause.make(of: pause, atMost: longest) { began?.cancel() }
        if pause != nil, let began { older = began }
        let operation = TaskOperation<Value>(
            name: name, priority: priority, dependencies: dependencies.and(pause), options, body: body)
        let identity = ObjectIdentifier(operation)
        operation.whenFinished { [weak self] result in self?.deliver(result, of: identity, to: deliver) }
        let run = Run(operation: operation, pause: pause)
        let former = replaceCurrent(by: run)
        if present != nil || pause == nil { former?.cancel(for: run) }
        queue.addNew(operation)
        // If an observer has replaced the operation meanwhile, the pause has ended, or begins again.
        if present == nil { pause?.begin(self.pause, clock: clock) }
        return operation
    }

    /// Ends the pause of the present operation. Has no effect if there is no pause.
    public func flush() { current?.pause?.finish() }

    /// Cancels the present operation. Its result is not delivered, even if it has finished.
    public func cancel() {
        let former = exchange(&older, with: nil)
        replaceCurrent(by: nil)?.cancel()
        extendLifetime(former)
    }

    private func deliver<Value>(
        _ result: Result<Value, any Error>, of operation: ObjectIdentifier,
        to deliver: @MainActor (Result<Value, any Error>) -> Void
    ) {
        // The task of the delivery retains its operation, so no newer operation has the same address.
        if let older, ObjectIdentifier(older) == operation {
            self.older = nil
            if current?.pause?.isOver == false { deliver(result) }
            return
        }
        guard let current, ObjectIdentifier(current.operation) == operation else { return }
        // The operation might have been cancelled during its pause.
        current.pause?.finish()
        // The end of the pause releases a body, which may call this object and replace the present operation.
        guard self.current?.operation === current.operation else { return }
        replaceCurrent(by: nil)
        deliver(result)
    }

    /// Sets the present operation, and returns the former one.
    @discardableResult
    private func replaceCurrent(by new: Run?) -> Run? {
        // The release of a body may call this object. So the caller releases the former operation.
        let former = current
        current = new
        // An observer of the change might start or cancel an operation, so the state is read again.
        while isRunning != (current != nil) { isRunning = current != nil }
        return former
    }
}
