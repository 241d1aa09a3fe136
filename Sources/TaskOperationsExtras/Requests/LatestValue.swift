internal import Synchronization
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
/// Calls run one after another. A value that is set during a call leads to another call. If a call fails, its value is
/// kept: unless a newer value is set, `flush()` calls the function with it again.
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
    private let newest = NewestValue<Value>()

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
    ///   - options: The options of the operations. A retry policy calls the function again, with the newest value.
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
        newest.set(value)
        request()
    }

    private func request() {
        operations.request(0, name: name, options, existing: .rerunOnce, settling: pause, atMost: longest) {
            [newest, body] in
            try await newest.use(body)
        }
    }

    /// Ends the pause, and waits until the function has returned for the newest of the values that were set before. If
    /// the last call has failed, calls the function again.
    ///
    /// If the calling task is cancelled, the wait ends. The function is called nevertheless.
    ///
    /// - Throws: The error of the last call. The value is kept, and another `flush()` tries again.
    ///   - `CancellationError` if the calling task is cancelled, or if the operation was cancelled before its start.
    ///   - `TaskOperationError.waitCycle` if the function itself calls `flush()`.
    public func flush() async throws {
        if let operation = operations.flushed(0) { return try await operation.value }
        if !newest.isUnused { return }
        request()
        try await operations.flushed(0)?.value
    }
}

/// The newest value, until a function has returned for it without an error.
private final class NewestValue<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var number = 0
        var unused: Value?
    }

    private let state = Lock(State())

    var isUnused: Bool { state.withLock { $0.unused != nil } }

    func set(_ value: Value) {
        let former = state.withLock { state in
            defer { (state.number, state.unused) = (state.number + 1, .some(value)) }
            return state.unused
        }
        // Released after unlocking.
        extendLifetime(former)
    }

    /// Calls a function with the value, unless a function has returned for it.
    func use(_ body: (Value) async throws -> Void) async throws {
        guard let (number, value) = state.withLock({ state in state.unused.map { (state.number, $0) } }) else { return }
        try await body(value)
        let used = state.withLock { $0.number == number ? $0.unused.take() : nil }
        // Released after unlocking.
        extendLifetime(used)
    }
}
