import Synchronization
public import TaskOperations

/// Operations with keys. Operations of the same key execute one after the other, in the order of their addition.
///
/// Use it for changes whose order matters for each document, account or device, but not between them:
///
/// ```swift
/// let uploads = SerialOperations<Document.ID>(queue: queue)
/// uploads.addOperation(for: document.id, .retry(.exponential(initial: .seconds(1), attempts: 8))) {
///     try await upload(change)
/// }
/// ```
///
/// An operation starts after all earlier operations of its key have ended, with any outcome. Neither a pause between
/// attempts nor a priority changes the order, and a cancellation in the middle does not shorten it. Operations of
/// different keys execute at the same time, as the width of the queue allows.
///
/// The earlier operations inherit the priority of a later one. A body that awaits a later operation of its key throws
/// `TaskOperationError.waitCycle`. See <doc:OrderForEachKey>.
public final class SerialOperations<Key: Hashable & Sendable>: Sendable {
    /// An operation that has not passed.
    private struct Entry: Sendable {
        let operation: AnyTaskOperation
        /// Ends when the operation and all earlier ones of the key have ended.
        let end: TaskOperation<Void>
        /// Keeps the number of the key.
        let key: LimitKey
    }

    /// The operations in their order. The handlers of operations retain this object, and so must not retain the queue.
    private final class Line: Sendable {
        struct State: Sendable {
            var order = KeyedOrder<Int, Entry>()
            var lastNumber = 0
        }

        let state = Lock(State())

        func ended(_ number: Int) {
            let passed = state.withLock { $0.order.ended(number) }
            for entry in passed { entry.end.finishExternally() }
        }
    }

    private let queue: TaskOperationQueue
    /// This semaphore numbers the keys, so that no function of a key is called under a lock. Its permits are not used.
    private let keys = AsyncSemaphore(capacity: .max)
    private let line = Line()

    /// Creates an object without operations.
    ///
    /// - Parameter queue: The queue that executes the operations. It can contain other operations, too.
    public init(queue: TaskOperationQueue) {
        self.queue = queue
    }

    /// Creates an operation from a closure, and adds it behind the earlier operations of its key.
    ///
    /// Takes constant amortised time for any number of operations, if the keys have different hash values.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Success>(
        for key: Key, name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, options, body: body)
        add(operation, for: keys.interned(key))
        return operation
    }

    /// Creates an operation from a closure, adds it behind the earlier operations of its key, and waits for its value.
    /// Cancelling the calling task cancels the operation.
    ///
    /// - Throws: The errors of `TaskOperationQueue.run(_:body:)`.
    public func run<Success>(
        for key: Key, name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Success>.Body
    ) async throws -> Success {
        try await addOperation(
            for: key, name: name, priority: priority, dependencies: dependencies, options, body: body
        ).valueOfCaller
    }

    private func add(_ operation: AnyTaskOperation, for key: LimitKey) {
        while true {
            let end = TaskOperation.placeholder(name: "turn")
            // One of these edges can close a cycle only if the queue refuses the addition below for the same cycle.
            try? end.addDependency(operation)
            let (number, former) = line.state.withLock { state in
                state.lastNumber += 1
                let entry = Entry(operation: operation, end: end, key: key)
                // A long row of operations that have ended would make the chain of edges long.
                let former = state.order.append(entry, state.lastNumber, of: key.number) { $0.operation.isFinished }
                return (state.lastNumber, former)
            }
            if let former {
                try? operation.addDependency(former.end)
                // The operation forgets its dependencies if it ends before them.
                try? end.addDependency(former.end)
            }
            operation.addHandler { [line] _ in line.ended(number) }
            do {
                return try queue.addOperation(operation)
            } catch {
                // If another thread has added a later operation of the key and a barrier behind it, this operation would
                // wait for the barrier, and the barrier for this operation. So it takes a place behind that operation,
                // even if that operation has ended meanwhile. No other refusal can become an acceptance.
                if !line.state.withLock({ $0.order.wasFollowed(number) }) { return queue.addNew(operation) }
                line.ended(number)
                // `end` may wait for earlier operations, and later operations for `end`.
                try? end.removeDependency(operation)
                if let former { try? operation.removeDependency(former.end) }
            }
        }
    }

    /// Whether all operations have ended.
    package var isEmpty: Bool { line.state.withLock { $0.order.isEmpty } }
}
