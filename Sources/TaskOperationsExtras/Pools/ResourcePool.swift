public import TaskOperations

/// Lends objects that are expensive to create, such as connections of a database.
///
/// ```swift
/// let database = ResourcePool(
///     limit: AsyncSemaphore(capacity: 8, name: "database"), idleTime: .seconds(60),
///     isFailure: { $0 is ConnectionError }, close: { await $0.close() }
/// ) {
///     try await Connection(to: server)
/// }
/// let user = try await database.withResource { connection in try await connection.user(7) }
/// ```
///
/// A call first waits for a permit of the limit. It then receives an idle resource, or a new one if there is none. So the
/// pool has at most as many resources as the largest capacity of the limit, by default with those that are being closed.
/// Each resource is lent to one call at a time. When the call has ended, the resource is idle, or is closed.
///
/// The order of the calls, their priorities, the keys with their capacities and shares, and the rates are those of the
/// limit. The name of the limit is the name of the pool in messages. Keys share all resources of the pool. For resources
/// that differ, such as connections of several hosts, use a pool for each kind. Several pools can have one limit.
///
/// A pool that is released closes its resources. It first lets the present calls end. See <doc:Pools>.
///
/// A call takes amortized constant time, plus logarithmic time for the timer of an idle resource. It has a child task.
public final class ResourcePool<Resource: Sendable>: Sendable {
    private let storage: PoolStorage<Resource>

    /// Creates a pool without resources.
    ///
    /// The pool calls the closures with no lock held. A closure that does not return delays only its own call, or the end
    /// of `close(cancellingAfter:)`. A resource keeps its place while it is being closed: see `countsClosing`.
    ///
    /// - Parameters:
    ///   - limit: The semaphore whose permits are needed to use a resource. Raising its capacity lets the pool create more
    ///     resources. Lowering it closes no resource.
    ///   - leastRecentlyUsedFirst: Whether a call receives the resource that has been idle for the longest time. Otherwise,
    ///     it receives the one that was used last, so that resources that are not needed reach their idle time.
    ///   - idleTime: The time after which an idle resource is closed; nil for no limit. If it is not positive, no resource
    ///     is kept.
    ///   - countsClosing: Whether a resource keeps its place until `close` has returned. A server with a bound then never
    ///     has too many connections, and `close` needs a timeout. If false, a resource is replaced at once.
    ///   - clock: The clock that measures the idle time and the timeouts of calls.
    ///   - isFailure: Returns whether a resource cannot be used again after an error of a call. By default, any error is
    ///     a failure, because a call that is interrupted could leave a resource in the middle of a request.
    ///   - validate: Returns whether an idle resource can still be used. It is called before each use, except for the first
    ///     one. An error means no. By default, all resources can.
    ///   - close: Closes a resource that the pool no longer needs. It runs in a task of its own, so that no call waits for
    ///     it. Its errors are ignored.
    ///   - create: Creates a resource, as a part of the call that needs it. The call throws its errors.
    public init(
        limit: AsyncSemaphore, leastRecentlyUsedFirst: Bool = false, idleTime: Duration? = nil,
        countsClosing: Bool = true, clock: any Clock<Duration> = ContinuousClock(),
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true },
        validate: @escaping @Sendable (Resource) async throws -> Bool = { _ in true },
        close: @escaping @Sendable (Resource) async throws -> Void = { _ in },
        create: @escaping @Sendable () async throws -> Resource
    ) {
        storage = PoolStorage(
            limit: limit, leastRecentlyUsedFirst: leastRecentlyUsedFirst, idleTime: idleTime,
            countsClosing: countsClosing, clock: clock, isFailure: isFailure, validate: validate, close: close,
            create: create)
    }

    deinit { storage.shut() }

    /// Waits for a resource, and calls a function with it. The resource must not be used after the function has returned.
    ///
    /// The function runs in a child task of the calling task, in the isolation of the caller. While it runs, it cannot use
    /// another resource of a pool with the same limit, because such a call could wait for itself. Its child tasks cannot
    /// do so either. Neither can an operation that itself has a permit of the limit, by its option `.limit`.
    ///
    /// If the task is cancelled before the function is called, the resource stays in the pool.
    ///
    /// - Parameters:
    ///   - key: The key whose permit is needed; nil for none. See `AsyncSemaphore.withPermit(key:)`.
    ///   - priority: The priority of the wait for a permit; nil for the priority of the calling task.
    ///   - timeout: The longest duration of the wait for a permit; nil for no limit. Creation and validation do not count.
    ///   - body: The work that needs the resource.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error of `body` or of the creation of a resource.
    ///   - `ResourcePoolError.nestedUse` if the caller already has a permit of the limit.
    ///   - `ResourcePoolError.closed` if the pool was closed before, or if its closing has cancelled the call.
    ///   - `TaskOperationError.timedOut` if the time is over before the call receives a permit.
    ///   - `CancellationError` if the task is cancelled before `body` is called.
    public func withResource<Key: Hashable & Sendable, Value>(
        key: Key? = Int?.none, priority: TaskPriority? = nil, timeout: Duration? = nil,
        _ body: (Resource) async throws -> Value
    ) async throws -> Value {
        try await storage.call { [storage] in
            try await storage.limit.withPermit(key: key, priority: priority, timeout: timeout, clock: storage.clock) {
                try await storage.lend(to: body)
            }
        }
    }

    /// Closes the pool and its resources, and waits until all of them are closed. Later calls of `withResource` throw
    /// `ResourcePoolError.closed`. Calls that have begun end as usual, also those that wait for a permit.
    ///
    /// If the calling task is cancelled, the calls are cancelled at once, and so are the closures that close resources.
    /// The method also waits for work that ignores its cancellation.
    ///
    /// ```swift
    /// try await database.close(cancellingAfter: .seconds(10))
    /// ```
    ///
    /// - Parameter limit: The time after which the calls are cancelled. The clock of the pool measures it. Nil for no limit.
    /// - Throws: `ResourcePoolError.nestedUse` if the caller has a permit of the limit. In this case, the pool is closed,
    ///   but the method does not wait, and cancels no calls.
    public func close(cancellingAfter limit: Duration? = nil) async throws(ResourcePoolError) {
        storage.shut()
        try await storage.waitUntilClosed(cancellingAfter: limit)
    }

    /// The number of resources that are not in use.
    package var idleCount: Int { storage.idleCount }
}

/// An error of a `ResourcePool`. The name of a pool is that of its limit.
public enum ResourcePoolError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The pool was closed before the call, or its closing has cancelled the call.
    case closed(poolName: String?)

    /// The caller already has a permit of the limit of the pool. It would wait for itself if no other permit became free.
    case nestedUse(poolName: String?)

    public var description: String {
        switch self {
        case .closed(let name):
            "\(Self.pool(name)) is closed. Close a pool after its last use, or create another one."
        case .nestedUse(let name):
            """
            \(Self.pool(name)) was used by work that already has a permit of its limit, and that could wait for itself. \
            Pass the resource to the functions that need it, use a pool with another limit, or remove the limit from the \
            options of the operation.
            """
        }
    }

    private static func pool(_ name: String?) -> String { name.map { "Resource pool \"\($0)\"" } ?? "A resource pool" }
}
