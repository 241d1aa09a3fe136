public import TaskOperations

/// A sequence of finished operations and their results, in the order in which the operations finish. Operations can be
/// added while others run.
///
/// ```swift
/// let pages = TaskOperationResults<Page>(on: queue)
/// pages.addOperation { try await load(start) }
/// for try await (operation, result) in pages {
///     guard let page = try? result.get() else { continue }
///     for link in page.links where isNew(link) { pages.addOperation { try await load(link) } }
/// }
/// ```
///
/// To find the input of a failed operation, keep a dictionary: `links[pages.addOperation { … }] = link`, and `links[operation]`.
///
/// Operations start when the queue allows it, even if no result is taken. To stop after a number of results, add no more
/// operations than that, or call `cancelAllOperations()` after that number. Other operations may have started before.
///
/// The iteration ends when no operation is left. You can begin another iteration afterwards. If several tasks iterate,
/// each result goes to one of them.
///
/// If the iterating task is cancelled, all operations are cancelled, including operations that are added later. The
/// iteration continues until all operations have finished. If you leave the iteration early, no operation is cancelled,
/// and you can take the remaining results later. When this object is released, unfinished operations are cancelled.
///
/// A body may iterate the results of operations on its own queue. The body lends its permit during the wait if the
/// operations need the permit. Such a wait takes linear time in the number of unfinished operations. Any other wait
/// takes constant time. The operations inherit the priority of the task that waits for a result.
public final class TaskOperationResults<Success: Sendable>: AsyncSequence, Sendable {
    /// A finished operation and its outcome.
    public typealias Element = (operation: TaskOperation<Success>, result: Result<Success, any Error>)
    public typealias Failure = TaskOperationError

    private let buffer: ResultBuffer<Success>

    /// Creates an empty collection of results.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations.
    ///   - limit: The maximum number of operations that are unfinished or have an untaken result, at least 1. At this
    ///     number, `addOperationWaitingForRoom` waits. `addOperation` ignores the limit.
    public init(on queue: TaskOperationQueue, maxUntakenOperationCount limit: Int = .max) {
        checkCount(limit, "maxUntakenOperationCount")
        buffer = ResultBuffer(
            on: queue, order: .completion, limit: limit == .max ? nil : limit, cancelsRestOnFailure: false)
    }

    deinit { buffer.cancelAll(andAdded: true) }

    /// The number of operations that are unfinished or have an untaken result.
    public var untakenOperationCount: Int { buffer.count }
}

// MARK: - Adding

extension TaskOperationResults {
    /// Creates an operation from a closure and adds it to the queue. The iteration returns the operation after it has
    /// finished, with any outcome.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - queue: The queue of the operation; nil for the queue of these results.
    ///   - body: The work.
    @discardableResult
    public func addOperation(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(), on queue: TaskOperationQueue? = nil,
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, options, body: body)
        buffer.add(operation, on: queue, hasRoom: false)
        return operation
    }

    /// Includes the result of an operation that you add to any queue, before or after this call. The iteration returns
    /// the operation after it has finished. If these results are released or cancelled, the operation is cancelled.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` if the operation waits for a body that iterates these results.
    public func include(_ operation: TaskOperation<Success>) throws(TaskOperationError) {
        try buffer.include(operation)
    }

    /// Waits until `untakenOperationCount` is below its limit. Then creates an operation from a closure and adds it to
    /// the queue. If several calls wait, the call with the highest priority continues first. Among calls of equal
    /// priority, the earliest call continues first.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - body: The work.
    /// - Throws: `CancellationError` if the task is cancelled during the wait.
    @discardableResult
    public func addOperationWaitingForRoom(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        body: @escaping TaskOperation<Success>.Body
    ) async throws(CancellationError) -> TaskOperation<Success> {
        try await buffer.waitForRoom(isProducer: false)
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, options, body: body)
        buffer.add(operation, hasRoom: true)
        return operation
    }

    /// Cancels all unfinished operations. Operations that are added afterwards are not cancelled.
    public func cancelAllOperations() {
        buffer.cancelAll(andAdded: false)
    }
}

// MARK: - Taking

extension TaskOperationResults {
    public func makeAsyncIterator() -> Iterator { Iterator(results: self) }

    /// An iterator over the finished operations.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let results: TaskOperationResults

        /// Waits for the next operation to finish, and takes it. Returns nil if no operation is left.
        ///
        /// - Throws: `TaskOperationError.waitCycle` if the calling body waits for operations that cannot end before the
        ///   body does.
        public mutating func next() async throws(TaskOperationError) -> Element? {
            guard let operation = try await results.buffer.next() else { return nil }
            return (operation, operation.outcome!)
        }
    }
}

/// Stops the process if a count is not positive.
func checkCount(_ count: Int, _ name: String) {
    require(count >= 1, "\(name) is \(count); it must be at least 1.")
}
