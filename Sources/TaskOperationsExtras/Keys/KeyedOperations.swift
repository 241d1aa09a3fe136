public import TaskOperations

/// Operations with keys. Simultaneous requests of the same key share one operation.
///
/// ```swift
/// let images = KeyedOperations<URL, Image>(queue: queue)
/// let request = images.request(url, .priority(.high)) { try await download(url) }
/// show(try await request.value)
/// ```
///
/// Each caller receives a request with its own `value`, `cancel()` and priority. The operation has the highest priority
/// of its requests. It is cancelled when its last request is cancelled, as in Nuke, with the inputs that nothing else
/// needs.
///
/// A key is removed when its operation has finished or is cancelled. A later request creates a new operation, even if
/// the cancelled body is still executing. A request at the moment of the end receives the outcome or creates a new
/// operation. Values are not cached.
///
/// A call takes constant time for any number of requests, if the keys have different hash values.
public final class KeyedOperations<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let queue: TaskOperationQueue
    private let table = KeyedTable()

    /// Creates an empty table.
    ///
    /// - Parameter queue: The queue that runs the operations. It can contain other operations, too.
    public init(queue: TaskOperationQueue) {
        self.queue = queue
    }

    /// The number of keys whose operation has not finished.
    public var count: Int { table.count }

    /// The operation that requests of a key currently share; nil if there is none.
    public subscript(key: Key) -> TaskOperation<Value>? {
        (table.chain(key.hashValue).shared(for: key)?.operation).map {
            // Only `request` adds operations to the table, and only operations of this type.
            unsafeDowncast($0, to: TaskOperation<Value>.self)
        }
    }

    /// Requests a key. Joins the operation of the key, or adds a new operation to the queue.
    ///
    /// Releasing the returned request does not cancel it. The operation continues until it finishes or every request is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - options: The options of a new operation. If the request joins an existing operation, only the priority of
    ///     the options is used. It is the priority of the request.
    ///   - body: The body of a new operation. It is ignored if the request joins an existing operation.
    /// - Returns: The request of this caller.
    @discardableResult
    public func request(
        _ key: Key, _ options: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Value>.Body
    ) -> KeyedRequest<Value> {
        let priority = options.values.priority ?? defaultPriority
        return request(key, priority: priority) {
            TaskOperation(options, body: body)
        } add: { operation in
            queue.addNew(operation)
        }
    }

    /// Requests a key, and creates the operation with a closure. Use this form for a group, or for an operation that
    /// needs the values of other operations.
    ///
    /// If the last request is cancelled before the operation starts, its direct and indirect inputs are also cancelled,
    /// unless something else needs them. Inputs are the operations that were passed for `after:`. An input is needed if
    /// another added operation depends on it, a task awaits it, or it has a completion handler. Operations of
    /// `KeyedOperations` have a completion handler. If an input belongs to a request, cancel that request when the
    /// operation ends:
    ///
    /// ```swift
    /// let thumbnail = try thumbnails.request(url) {
    ///     let image = images.request(url) { try await download(url) }
    ///     let operation = TaskOperation(after: image.operation) { try scale($0) }
    ///     operation.addCompletionHandler { image.cancel() }
    ///     return operation
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - priority: The priority of the request. The default is the priority of the queue's defaults, or `.medium`.
    ///   - make: A closure that creates the operation. It is called at most once, and only if there is no operation to
    ///     join. This method then adds the new operation to the queue. If another thread has meanwhile added an
    ///     operation for the key, this method joins that operation and discards the new operation.
    /// - Returns: The request of this caller.
    /// - Throws: The errors of `TaskOperationQueue.addOperation(_:)`, such as `TaskOperationError.alreadyAdded`.
    @discardableResult
    public func request(
        _ key: Key, priority: TaskPriority? = nil, operation make: () -> TaskOperation<Value>
    ) throws(TaskOperationError) -> KeyedRequest<Value> {
        try request(key, priority: priority ?? defaultPriority) { () throws(TaskOperationError) in
            let operation = make()
            // An operation that was added before must not change: the caller sets a priority and adds a handler.
            if operation.wasSubmitted { throw .alreadyAdded(OperationLabel(operation)) }
            return operation
        } add: { operation throws(TaskOperationError) in
            try queue.addOperation(operation)
        }
    }

    private var defaultPriority: TaskPriority { queue.scheduler.defaults?.values.priority ?? .medium }

    private func request<Failure>(
        _ key: Key, priority: TaskPriority, make: () throws(Failure) -> TaskOperation<Value>,
        add: (AnyTaskOperation) throws(Failure) -> Void
    ) throws(Failure) -> KeyedRequest<Value> {
        let (level, hash) = (PriorityLevel(priority), key.hashValue)
        var made: SharedOperation?
        while true {
            let chain = table.chain(hash)
            if let present = chain.shared(for: key), present.join(at: level) { return KeyedRequest(present, at: level) }
            let new = if let made { made } else { share(try make(), for: key, hash, at: level) }
            made = new
            if table.set(new, for: key, hash, in: chain) {
                do {
                    try add(new.operation)
                } catch {
                    new.remove()
                    throw error
                }
                return KeyedRequest(new, at: level)
            }
        }
    }

    /// Requests a key, and waits for the value. Cancelling the calling task cancels its request.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - options: The options of a new operation. Their priority is the priority of the request.
    ///   - body: The body of a new operation. It is ignored if the request joins an existing operation.
    /// - Returns: The value of the operation.
    /// - Throws: The errors of `KeyedRequest.value`.
    public func value(
        for key: Key, _ options: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Value>.Body
    ) async throws -> Value {
        let request = request(key, options, body: body)
        return try await withTaskCancellationHandler {
            try await request.result.get()
        } onCancel: {
            request.cancel()
        }
    }

    private func share(
        _ operation: TaskOperation<Value>, for key: Key, _ hash: Int, at level: PriorityLevel
    ) -> SharedOperation {
        operation.priority = level.taskPriority
        let removeFromTable: @Sendable (AnyTaskOperation) -> Void = { [table] in
            table.remove($0, of: Key.self, hash)
        }
        // The handler must not retain `shared`, which retains the operation. An operation that is refused or replaced
        // by another one never ends, and would keep its handlers for ever.
        operation.addHandler(removeFromTable)
        return SharedOperation(operation, requestedAt: level, removeFromTable: removeFromTable)
    }
}
