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
/// A key is removed when its operation has finished, unless its value is kept, or when its last request is cancelled.
/// After the last request was cancelled, a later request creates an operation that does not wait for the cancelled body.
/// A request at the moment of the end receives the outcome or creates a new operation.
///
/// A request can also replace the work of its key, and an operation can pause before its start:
///
/// ```swift
/// let saves = KeyedOperations<Document.ID, Void>(queue: queue)
/// saves.request(id, existing: .rerunOnce, settling: .seconds(1), atMost: .seconds(10)) { try await save(document) }
/// ```
///
/// A call takes constant time for any number of requests, if the keys have different hash values. See
/// <doc:KeysThatReplace>.
public final class KeyedOperations<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let queue: TaskOperationQueue
    private let table = KeyedTable()
    /// The finished operations whose values are kept; nil if none are.
    private let kept: KeptOperations?

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - queue: The queue that runs the operations. It can contain other operations, too.
    ///   - values: The values that remain after the end of their operations. By default, none.
    public init(queue: TaskOperationQueue, keeping values: KeptValues = .none) {
        self.queue = queue
        kept = KeptOperations(values)
    }

    // The table and its finished operations retain each other.
    deinit { kept?.close() }

    /// The number of keys whose operation has not finished. An operation that ends before its start, for example because of
    /// `cancelAllOperations()`, counts until its completion handlers have run.
    public var count: Int { max(0, table.count - (kept?.count ?? 0)) }

    /// The operation that requests of a key currently share; nil if there is none. A finished operation contains a kept
    /// value.
    public subscript(key: Key) -> TaskOperation<Value>? {
        (table.chain(key.hashValue).entry(for: key)?.shared.operation).map {
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
    ///   - name: The name of a new operation in messages and descriptions.
    ///   - priority: The priority of the request. The default is the priority of the queue's defaults, or `.medium`.
    ///   - dependencies: The operations that must finish before a new operation starts, with any outcome.
    ///   - options: The other options of a new operation.
    ///   - existing: The rule for a key that has an operation already.
    ///   - pause: The pause between the addition of a new operation and its start. If the request gives its body to an
    ///     existing operation that still pauses, that pause begins again. A duration that is not positive means no
    ///     pause. The clock of the options measures it.
    ///   - longest: The time after which the pause of a new operation ends, however often it begins again; nil for no
    ///     limit. An existing operation keeps the limit of its first request.
    ///   - body: The body of a new operation, or the new body of an existing one. `.join` ignores it if the key has an
    ///     operation.
    /// - Returns: The request of this caller.
    @discardableResult
    public func request(
        _ key: Key, name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(), existing: ExistingOperation = .join,
        settling pause: Duration = .zero, atMost longest: Duration? = nil, body: @escaping TaskOperation<Value>.Body
    ) -> KeyedRequest<Value> {
        // The other options are read only for a new operation or a pause: most requests join an operation.
        let level = options.level ?? priority.map { PriorityLevel($0) } ?? queue.defaultLevel
        return request(key, at: level, existing, body) { box in
            let settling = SettlingPause.make(of: pause, atMost: longest)
            let operation = TaskOperation<Value>(
                name: name, priority: priority, dependencies: dependencies.and(settling), options
            ) { try await box!.run() }
            return (operation, settling)
        } add: { operation in
            queue.addNew(operation)
        } settle: { settling in
            settling.begin(pause, clock: options.schedule.clock)
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
    /// let thumbnail = thumbnails.request(url) {
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
    ///     operation for the key, this method joins that operation. It cancels the new operation, and the inputs of
    ///     the new operation that nothing else needs.
    /// - Returns: The request of this caller. It fails with the errors of `TaskOperationQueue.addOperation(_:)`, for example
    ///   with `TaskOperationError.alreadyAdded` if `make` returns an operation that was added before.
    @discardableResult
    public func request(
        _ key: Key, priority: TaskPriority? = nil, operation make: () -> TaskOperation<Value>
    ) -> KeyedRequest<Value> {
        let level = priority.map { PriorityLevel($0) } ?? queue.defaultLevel
        var refusal: TaskOperationError?
        return request(key, at: level, .join, nil) { _ in
            let operation = make()
            if !operation.refusesAddition { return (operation, nil) }
            // That operation must not change: a request sets a priority and adds a handler.
            let error = TaskOperationError.alreadyAdded(OperationLabel(operation))
            refusal = error
            return (TaskOperation { throw error }, nil)
        } add: { operation in
            if let refusal { operation.endOrCancel(refusal, isCancellation: false) } else { queue.addNew(operation) }
        }
    }

    /// - Parameters:
    ///   - body: The body of a new operation; nil if `make` creates an operation with a body of its own.
    ///   - make: Creates an operation, and the pause before its start if it has one.
    ///   - settle: Begins a pause.
    private func request(
        _ key: Key, at level: PriorityLevel, _ existing: ExistingOperation, _ body: TaskOperation<Value>.Body?,
        make: (KeyedBody<Value>?) -> (operation: TaskOperation<Value>, settling: SettlingPause?),
        add: (AnyTaskOperation) -> Void, settle: (SettlingPause) -> Void = { _ in }
    ) -> KeyedRequest<Value> {
        let hash = key.hashValue
        var made: (operation: TaskOperation<Value>, body: KeyedBody<Value>?, settling: SettlingPause?)?
        while true {
            let chain = table.chain(hash)
            let entry = chain.entry(for: key)
            var former: [SharedOperation] = []
            if let entry {
                let present = entry.shared
                switch join(present, at: level, existing, body) {
                case .joined:
                    // The inputs of a discarded operation may be on a queue already.
                    made?.operation.cancelWithUnneededInputs()
                    return KeyedRequest(present, at: level)
                case .hasNewBody:
                    if existing == .replace { entry.former.cancel() }
                    if let pause = present.pause { settle(pause) }
                    return KeyedRequest(present, at: level)
                case .mustFollow: former = entry.unfinished
                }
            }
            if made == nil {
                let box = body.map { KeyedBody($0) }
                let (operation, settling) = make(box)
                operation.priority = level.taskPriority
                // The handler must not retain the shared operation, which retains the operation. An operation that is
                // replaced by another one never ends, and would keep its handlers for ever.
                operation.addHandler { [table, kept] operation in
                    box?.end()
                    settling?.finish()
                    Self.keepOrRemove(operation, in: table, hash, kept)
                }
                made = (operation, box, settling)
            }
            let new = share(made!.operation, made!.body, made!.settling, after: former, of: Key.self, hash, at: level)
            if table.set(new, after: former, for: key, hash, in: chain) {
                if let entry { kept?.remove(entry.shared) }
                if existing == .replace { former.cancel() }
                add(new.operation)
                if let settling = made!.settling { settle(settling) }
                return KeyedRequest(new, at: level)
            }
        }
    }

    private enum Joining {
        case joined
        /// The request has joined, and the operation has got the body of the request.
        case hasNewBody
        /// A new operation must follow the operation, unless that has ended.
        case mustFollow
    }

    private func join(
        _ present: SharedOperation, at level: PriorityLevel, _ existing: ExistingOperation,
        _ body: TaskOperation<Value>.Body?
    ) -> Joining {
        if existing == .join, let kept, Self.hasValue(present.operation) {
            kept.use(present)
            return .joined
        }
        if !present.join(at: level) { return .mustFollow }
        if existing == .join { return .joined }
        // The request has joined before, so that the operation cannot be cancelled between the two steps.
        // All boxes of a `KeyedOperations` have the same type of value.
        if let box = present.body, let body, unsafeDowncast(box, to: KeyedBody<Value>.self).replace(by: body) {
            return .hasNewBody
        }
        if existing == .replaceIfQueued { return .joined }
        present.perform(present.leave(from: level))
        return .mustFollow
    }

    private static func hasValue(_ operation: AnyTaskOperation) -> Bool {
        // Only `request` adds operations to the table, and only operations of this type.
        if case .success? = unsafeDowncast(operation, to: TaskOperation<Value>.self).outcome { true } else { false }
    }

    /// Requests a key, and waits for the value. Cancelling the calling task cancels its request. During the wait, the
    /// operation has at least the priority of the calling task.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - name: The name of a new operation in messages and descriptions.
    ///   - priority: The priority of the request. The default is the priority of the queue's defaults, or `.medium`.
    ///   - dependencies: The operations that must finish before a new operation starts, with any outcome.
    ///   - options: The other options of a new operation.
    ///   - existing: The rule for a key that has an operation already.
    ///   - pause: The pause between the addition of a new operation and its start.
    ///   - longest: The time after which the pause ends, however often it begins again; nil for no limit.
    ///   - body: The body of a new operation, or the new body of an existing one.
    /// - Returns: The value of the operation.
    /// - Throws: The errors of `KeyedRequest.value`.
    public func value(
        for key: Key, name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(), existing: ExistingOperation = .join,
        settling pause: Duration = .zero, atMost longest: Duration? = nil, body: @escaping TaskOperation<Value>.Body
    ) async throws -> Value {
        try await request(
            key, name: name, priority: priority, dependencies: dependencies, options, existing: existing,
            settling: pause, atMost: longest, body: body
        ).valueOfCaller
    }

    /// Requests a key, creates the operation with a closure, and waits for the value. Cancelling the calling task
    /// cancels its request. See `request(_:priority:operation:)`.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - priority: The priority of the request. The default is the priority of the queue's defaults, or `.medium`.
    ///   - make: A closure that creates the operation.
    /// - Returns: The value of the operation.
    /// - Throws: The errors of `KeyedRequest.value`.
    public func value(
        for key: Key, priority: TaskPriority? = nil, operation make: () -> TaskOperation<Value>
    ) async throws -> Value {
        try await request(key, priority: priority, operation: make).valueOfCaller
    }

    /// - Parameter former: The operations of the same key that must end before.
    private func share(
        _ operation: TaskOperation<Value>, _ body: KeyedBody<Value>?, _ pause: SettlingPause?,
        after former: [SharedOperation], of key: Key.Type, _ hash: Int, at level: PriorityLevel
    ) -> SharedOperation {
        // The new operation is not public yet, so the dependency cannot close a cycle.
        for former in former { try? operation.addDependency(former.operation) }
        return SharedOperation(operation, requestedAt: level, body: body, pause: pause) { [table, kept] in
            Self.remove($0, from: table, hash, kept)
        }
    }

    /// Keeps the value of an operation that has finished, or removes the operation from the table.
    private static func keepOrRemove(
        _ operation: AnyTaskOperation, in table: KeyedTable, _ hash: Int, _ kept: KeptOperations?
    ) {
        if let kept, hasValue(operation), let shared = table.chain(hash).entry(of: operation)?.shared,
            kept.insert(shared)
        {
            // Another request may have replaced the operation before it was kept.
            if !table.chain(hash).contains(operation) { kept.remove(shared) }
            return
        }
        remove(operation, from: table, hash, kept)
    }

    private static func remove(
        _ operation: AnyTaskOperation, from table: KeyedTable, _ hash: Int, _ kept: KeptOperations?
    ) {
        var former = table.remove(operation, of: Key.self, hash)
        // The key belongs to `former` again. If that has ended meanwhile, its handler might not have found it.
        while let ended = former, ended.operation.isFinished {
            former = table.remove(ended.operation, of: Key.self, hash)
            kept?.remove(ended)
        }
    }
}

extension [SharedOperation] {
    /// Cancels the operations for all their requests.
    fileprivate func cancel() {
        for shared in self { shared.operation.cancelWithUnneededInputs() }
    }
}

// MARK: - All keys

extension KeyedOperations {
    /// Ends the pause of the operation of a key, so that the operation can start. Has no effect if there is no pause.
    public func flush(_ key: Key) { _ = flushed(key) }

    /// Ends the pause of the operation of a key, and returns the operation; nil if there is none.
    func flushed(_ key: Key) -> TaskOperation<Value>? {
        let shared = table.chain(key.hashValue).entry(for: key)?.shared
        shared?.pause?.finish()
        // Only `request` adds operations to the table, and only operations of this type.
        return (shared?.operation).map { unsafeDowncast($0, to: TaskOperation<Value>.self) }
    }

    /// Cancels the operations of some keys for all their requests, and removes the kept values of these keys. Takes
    /// linear time in the number of keys.
    ///
    /// - Parameter isUnwanted: Returns whether to cancel the operation of a key. It is called with no lock held.
    public func cancel(where isUnwanted: (Key) -> Bool) {
        for chain in table.chains {
            for entry in KeyedEntry?.some(chain).entries(where: isUnwanted) {
                let all = [entry.shared] + entry.former
                // Each call but the last gives the key to the next operation.
                for shared in all { shared.remove() }
                all.cancel()
                // In this order, because the operation might finish and be kept between the calls.
                kept?.remove(entry.shared)
            }
        }
    }
}
