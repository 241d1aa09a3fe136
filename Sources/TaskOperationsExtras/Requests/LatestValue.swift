public import TaskOperations

/// Calls a function with the newest of several values, such as the state of a document that is saved from time to time.
///
/// ```swift
/// let saves = LatestValue<String>(settling: .milliseconds(300), atMost: .seconds(2)) { text in
///     try await save(text)
/// }
/// saves.set(text)          // after each change, from any thread
/// try await saves.flush()  // at the end
/// ```
///
/// A call begins after the pause, and receives the value that was set last. Values that were set before it are dropped.
/// Calls run one after another. A value that is set during a call leads to another call.
///
/// A value that was set is also used if this object is released. Each call is an operation of a queue. For several
/// documents, use `KeyedOperations`. For results on the main actor, use `LatestOperation`. See <doc:TheLatestOnly>.
///
/// Setting a value takes O(log *n*) time for *n* pauses of one clock.
public final class LatestValue<Value: Sendable>: Sendable {
    private let operations: KeyedOperations<Int, Void>
    private let pause: Duration
    private let longest: Duration?
    private let name: String?
    private let options: OperationOptions
    private let body: @Sendable (Value) async throws -> Void

    /// Creates an object without a value.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations. It can contain other operations, too. By default, a queue of its
    ///     own.
    ///   - pause: The time between `set(_:)` and the call. Each `set(_:)` begins the pause again. A duration that is not
    ///     positive means no pause.
    ///   - longest: The time from the first `set(_:)` after the beginning of a call to the end of the pause, however often
    ///     the pause begins again; nil for no limit. The clock of the options measures both times.
    ///   - name: The name of the operations in messages and descriptions.
    ///   - options: The options of the operations. A retry policy calls the function again with the same value.
    ///   - body: The function to call with the newest value.
    public init(
        queue: TaskOperationQueue = TaskOperationQueue(name: "latest value"), settling pause: Duration = .zero,
        atMost longest: Duration? = nil, name: String? = nil, options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (_ value: Value) async throws -> Void
    ) {
        operations = KeyedOperations(queue: queue)
        self.pause = pause
        self.longest = longest
        self.name = name
        self.options = options
        self.body = body
    }

    /// Sets the newest value, and begins the pause again.
    public func set(_ value: Value) {
        operations.request(0, name: name, options, existing: .rerunOnce, settling: pause, atMost: longest) { [body] in
            try await body(value)
        }
    }

    /// Ends the pause, and waits until the function has returned for all values that were set before.
    ///
    /// If the calling task is cancelled, the wait ends. The function is called nevertheless.
    ///
    /// - Throws: The error of the last of these calls, unless it ended before `flush()`.
    ///   - `CancellationError` if the calling task is cancelled, or if the operation was cancelled before its start.
    ///   - `TaskOperationError.waitCycle` if the function itself calls `flush()`.
    public func flush() async throws {
        try await operations.flushed(0)?.value
    }
}
