/// A counting semaphore for tasks: it limits the number of tasks in a section without blocking threads.
///
/// Waiting tasks get permits by priority, then by arrival. Escalating a waiting task changes its position. Each call
/// takes at most O(log *n*) time with *n* waiting tasks, and usually O(1).
///
/// ```swift
/// let connections = AsyncSemaphore(capacity: 6)
/// let page = try await connections.withPermit { try await load(url) }
/// ```
public final class AsyncSemaphore: Sendable {
    typealias State = SemaphoreState<SemaphoreWaiter>

    struct Storage: Sendable {
        var state: State
        /// The largest capacity that the semaphore has had.
        var peakCapacity: Int
    }

    /// The number of the semaphore. The limits of one operation are locked in the order of their numbers.
    let number = Rank.next()
    let storage: Lock<Storage>
    /// The node of the wait graph that represents this semaphore as a limit of operations.
    let permit = PermitNode(.limit)

    /// The name in messages.
    public let name: String?

    /// Creates a semaphore with all its permits free.
    ///
    /// - Parameters:
    ///   - capacity: The number of permits; not negative. With 0, all tasks wait until the capacity is raised.
    ///   - name: The name in messages, such as those of TaskOperationsDiagnosis.
    public init(capacity: Int, name: String? = nil) {
        Self.checkCapacity(capacity)
        self.name = name
        storage = Lock(Storage(state: State(capacity: capacity), peakCapacity: capacity))
    }

    /// The number of permits, both taken and free. Raising the capacity resumes waiting tasks at once. Lowering it
    /// revokes no permit. A task that needs more permits than a lowered capacity waits until the capacity is raised
    /// again.
    public var capacity: Int {
        get { storage.withLock { $0.state.permits.capacity } }
        set {
            Self.checkCapacity(newValue)
            apply { storage in
                storage.state.setCapacity(newValue)
                storage.peakCapacity = max(storage.peakCapacity, newValue)
            }
        }
    }

    /// The number of free permits.
    public var available: Int { storage.withLock { $0.state.permits.available } }

    /// The number of waiting tasks.
    public var waitingCount: Int { storage.withLock { $0.state.waitingCount } }

    private static func checkCapacity(_ capacity: Int) {
        require(capacity >= 0, "capacity is \(capacity); it must not be negative.")
    }
}

// MARK: - Acquiring

extension AsyncSemaphore {
    /// Waits for permits and takes them. Tasks that precede the caller in the line get their permits first.
    ///
    /// - Parameters:
    ///   - weight: The number of permits; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: The priority of the wait; that of the calling task if none is given.
    /// - Throws: `CancellationError` if the task is cancelled before it has the permits. In this case, it holds no
    ///   permit.
    public func acquire(_ weight: Int = 1, priority: TaskPriority? = nil) async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        if tryAcquire(weight) { return }
        let isAcquired = await suspend(SemaphoreWait(weight: weight, priority: priority))
        if !isAcquired { throw CancellationError() }
    }

    /// Waits for permits for a limited time, and takes them.
    ///
    /// - Parameters:
    ///   - weight: The number of permits; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: The priority of the wait; that of the calling task if none is given.
    ///   - timeout: The longest duration of the wait.
    ///   - clock: The clock that measures it.
    /// - Throws: `WaitTimeoutError` if the time is over before the task has the permits, and `CancellationError` if the
    ///   task is cancelled before it has them. In both cases, it holds no permit.
    public func acquire(
        _ weight: Int = 1, priority: TaskPriority? = nil, timeout: Duration,
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
        try Task.checkCancellation()
        if tryAcquire(weight) { return }
        let wait = SemaphoreWait(weight: weight, priority: priority)
        let isAcquired = await withTimeLimit(timeout, clock: clock) {
            await suspend(wait)
        } onTimeout: { [self] in
            wait.isTimeUp.set()
            leave(wait)
        }
        if isAcquired { return }
        if !wait.isTimeUp.isSet { throw CancellationError() }
        throw WaitTimeoutError("permits of an AsyncSemaphore", timeout: timeout)
    }

    /// Takes permits if this is possible without waiting and without overtaking a waiting task.
    ///
    /// - Parameter weight: The number of permits; at least 1, and at most the largest `capacity` that there was.
    /// - Returns: Whether the permits were taken.
    public func tryAcquire(_ weight: Int = 1) -> Bool {
        checkWeight(weight)
        let (isTaken, peak) = storage.withLock { ($0.state.tryAcquire(weight), $0.peakCapacity) }
        require(weight <= peak || peak == 0, "weight is \(weight); the capacity is only \(peak).")
        return isTaken
    }

    /// Releases permits, which resumes the tasks that wait for them.
    ///
    /// - Parameter weight: The number of permits; at most the number of taken permits.
    public func release(_ weight: Int = 1) {
        checkWeight(weight)
        apply { $0.state.release(weight) }
    }

    /// Runs a body with permits, and releases them when it returns or throws.
    ///
    /// - Parameters:
    ///   - weight: The number of permits; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: The priority of the wait; that of the calling task if none is given.
    ///   - body: The work.
    /// - Throws: The error that `body` throws, or `CancellationError` if the task is cancelled before it has the
    ///   permits.
    public func withPermit<Value>(
        weight: Int = 1, priority: TaskPriority? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        try await acquire(weight, priority: priority)
        defer { release(weight) }
        return try await body()
    }

    /// Waits for permits for a limited time, and runs a body with them.
    ///
    /// - Parameters:
    ///   - weight: The number of permits; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: The priority of the wait; that of the calling task if none is given.
    ///   - timeout: The longest duration of the wait for the permits.
    ///   - clock: The clock that measures it.
    ///   - body: The work.
    /// - Throws: The error that `body` throws, or the errors of `acquire` with a timeout.
    public func withPermit<Value>(
        weight: Int = 1, priority: TaskPriority? = nil, timeout: Duration,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: () async throws -> Value
    ) async throws -> Value {
        try await acquire(weight, priority: priority, timeout: timeout, clock: clock)
        defer { release(weight) }
        return try await body()
    }

    private func checkWeight(_ weight: Int) {
        require(weight > 0, "weight is \(weight); it must be at least 1.")
    }
}

extension AsyncSemaphore: AwaitedSubject {
    package var waitDescription: String {
        let (capacity, available) = storage.withLock { ($0.state.permits.capacity, $0.state.permits.available) }
        let label = name.map { "semaphore \"\($0)\"" } ?? "a semaphore"
        return "\(label), \(available) of whose \(capacity) permits are left"
    }
}

// MARK: - Waiting

/// A call that waits for permits.
private final class SemaphoreWait: Sendable {
    let weight: Int
    let level: PriorityLevel
    /// The priority of the task when the wait began. If the task is escalated above this priority, the wait is raised.
    let taskPriority = Task.currentPriority
    let isTimeUp = AtomicFlag()
    /// The wait's entry in the line; nil until the wait is in line. Written under the lock of the semaphore, in the
    /// step that inserts the entry.
    let ticket = Lock<AsyncSemaphore.State.Ticket?>(nil)

    init(weight: Int, priority: TaskPriority?) {
        self.weight = weight
        level = PriorityLevel(priority ?? taskPriority)
    }
}

extension AsyncSemaphore {
    /// Waits for permits. Returns false if the wait ended early, without permits.
    private func suspend(_ wait: SemaphoreWait) async -> Bool {
        await AnyTaskOperation.recordingWait(.semaphore, self) {
            await withCancellableWait { continuation in
                apply { storage in
                    let ticket = storage.state.wait(
                        .task(continuation), weight: wait.weight, level: wait.level, arrival: LineArrival(Rank.next()))
                    wait.ticket.withLock { $0 = ticket }
                }
            } raise: { [self] priority in
                guard priority > wait.taskPriority, let ticket = wait.ticket.withLock({ $0 }) else { return }
                apply { $0.state.raise(ticket, to: PriorityLevel(priority)) }
            } isOver: {
                wait.isTimeUp.isSet
            } end: {
                leave(wait)
            }
        }
    }

    private func leave(_ wait: SemaphoreWait) {
        guard let ticket = wait.ticket.withLock({ $0 }) else { return }
        if case .task(let continuation) = apply({ $0.state.leave(ticket) }) { continuation.resume(returning: false) }
    }

    /// Applies an event, and serves the line.
    private func apply<Result: Sendable>(_ event: (inout Storage) -> Result) -> Result {
        let (result, served) = storage.withLock { storage in
            let result = event(&storage)
            return (result, storage.serve())
        }
        for waiter in served { waiter.serve() }
        return result
    }
}

extension AsyncSemaphore.Storage {
    /// Gives free permits to the first waiters. Returns these waiters, which the caller serves with no lock held.
    mutating func serve() -> [SemaphoreWaiter] {
        var served: [SemaphoreWaiter] = []
        while let waiter = state.next() { served.append(waiter) }
        return served
    }
}
