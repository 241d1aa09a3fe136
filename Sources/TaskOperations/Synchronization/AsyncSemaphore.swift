/// Permits that tasks take and give back: a limit on how many do something at once, without blocking a thread.
///
/// Tasks that wait are served in the order of priority, then arrival. A waiting task rises when it is escalated. Each call
/// costs O(log n) at most in the number of waiting tasks, and usually O(1).
///
/// ```swift
/// let connections = AsyncSemaphore(capacity: 6)
/// let page = try await connections.withPermit { try await load(url) }
/// ```
public final class AsyncSemaphore: Sendable {
    typealias State = SemaphoreState<SemaphoreWaiter>

    struct Storage: Sendable {
        var state: State
        /// The largest capacity that there was so far.
        var peakCapacity: Int
    }

    /// Semaphores that are limits of one operation are locked in the order of their numbers.
    let number = Rank.next()
    let storage: Lock<Storage>
    /// What an operation waits for that has this semaphore as a limit.
    let permit = PermitNode(.limit)

    /// What the semaphore is called in messages.
    public let name: String?

    /// Makes a semaphore with all its permits at hand.
    ///
    /// - Parameters:
    ///   - capacity: How many permits there are; not negative. With 0 all wait until it is raised.
    ///   - name: What the semaphore is called in messages, as in those of `AnyTaskOperation.waitingReasons`.
    public init(capacity: Int, name: String? = nil) {
        Self.checkCapacity(capacity)
        self.name = name
        storage = Lock(Storage(state: State(capacity: capacity), peakCapacity: capacity))
    }

    /// How many permits there are, taken or not. Raising it lets waiting tasks go on at once; lowering it takes
    /// nothing back. A task that wants more than a lowered capacity waits until it is raised again.
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

    /// How many permits nobody has.
    public var available: Int { storage.withLock { $0.state.permits.available } }

    /// How many tasks wait.
    public var waitingCount: Int { storage.withLock { $0.state.waitingCount } }

    private static func checkCapacity(_ capacity: Int) {
        require(capacity >= 0, "capacity is \(capacity); it must not be negative.")
    }
}

// MARK: - Acquiring

extension AsyncSemaphore {
    /// Takes permits, once they are there and nobody with a claim to them waits.
    ///
    /// - Parameters:
    ///   - weight: How many; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: What orders this among others that wait; the calling task's if none is given.
    /// - Throws: `CancellationError` if the task is cancelled before it has the permits. It has none then.
    public func acquire(_ weight: Int = 1, priority: TaskPriority? = nil) async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        if tryAcquire(weight) { return }
        do {
            try await suspend(SemaphoreWait(weight: weight, priority: priority))
        } catch {
            throw CancellationError()
        }
    }

    /// Takes permits, unless that takes longer than a limit.
    ///
    /// - Parameters:
    ///   - weight: How many; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: What orders this among others that wait; the calling task's if none is given.
    ///   - timeout: How long to wait at most.
    ///   - clock: What measures that.
    /// - Throws: `WaitTimeoutError` when the time is up, and `CancellationError` if the task is cancelled, before it has
    ///   the permits. It has none then.
    public func acquire<C: Clock>(
        _ weight: Int = 1, priority: TaskPriority? = nil, timeout: C.Duration, clock: C = ContinuousClock()
    ) async throws {
        try Task.checkCancellation()
        if tryAcquire(weight) { return }
        let wait = SemaphoreWait(weight: weight, priority: priority)
        try await withTimeLimit(timeout, clock: clock) {
            try await suspend(wait)
        } onTimeout: { [self] in
            giveUp(wait, WaitTimeoutError("permits of an AsyncSemaphore", timeout: timeout))
        }
    }

    /// Takes permits if that is possible without waiting and without overtaking anybody.
    ///
    /// - Parameter weight: How many; at least 1, and at most the largest `capacity` that there was.
    /// - Returns: Whether they were taken.
    public func tryAcquire(_ weight: Int = 1) -> Bool {
        checkWeight(weight)
        let (isTaken, peak) = storage.withLock { ($0.state.tryAcquire(weight), $0.peakCapacity) }
        require(weight <= peak || peak == 0, "weight is \(weight); the capacity is only \(peak).")
        return isTaken
    }

    /// Gives permits back. Those who wait for them go on at once.
    ///
    /// - Parameter weight: How many; no more than are taken.
    public func release(_ weight: Int = 1) {
        checkWeight(weight)
        apply { $0.state.release(weight) }
    }

    /// Does something with permits, which are given back however it ends.
    ///
    /// - Parameters:
    ///   - weight: How many permits; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: What orders this among others that wait; the calling task's if none is given.
    /// - Throws: What `body` throws, or `CancellationError` if the task is cancelled before it has the permits.
    public func withPermit<Value>(
        weight: Int = 1, priority: TaskPriority? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        try await acquire(weight, priority: priority)
        defer { release(weight) }
        return try await body()
    }

    /// Does something with permits, unless it takes longer than a limit to get them.
    ///
    /// - Parameters:
    ///   - weight: How many permits; at least 1, and at most the largest `capacity` that there was.
    ///   - priority: What orders this among others that wait; the calling task's if none is given.
    ///   - timeout: How long to wait for the permits at most.
    ///   - clock: What measures that.
    /// - Throws: What `body` throws, or what `acquire` with a limit does.
    public func withPermit<Value, C: Clock>(
        weight: Int = 1, priority: TaskPriority? = nil, timeout: C.Duration, clock: C = ContinuousClock(),
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
    var waitDescription: String {
        let (capacity, available) = storage.withLock { ($0.state.permits.capacity, $0.state.permits.available) }
        let label = name.map { "semaphore \"\($0)\"" } ?? "a semaphore"
        return "\(label), \(available) of whose \(capacity) permits are left"
    }
}

// MARK: - Waiting

/// A call that waits for permits. What ends or raises it may come before it stands in line.
///
/// Lock order: its place may be locked while the semaphore is, never the other way round.
private final class SemaphoreWait: Sendable {
    enum Place: Sendable {
        case notTaken(raisedTo: PriorityLevel)
        case taken(AsyncSemaphore.State.Ticket)
        case givenUp(any Error)
    }

    let weight: Int
    let priority: TaskPriority?
    let place = Lock(Place.notTaken(raisedTo: .background))

    init(weight: Int, priority: TaskPriority?) {
        self.weight = weight
        self.priority = priority
    }
}

extension AsyncSemaphore {
    private func suspend(_ wait: SemaphoreWait) async throws {
        try await AnyTaskOperation.noting(.semaphore, self) {
            try await withTaskCancellationHandler {
                try await withEscalationHandler {
                    try await withCheckedThrowingContinuation { lineUp($0, wait) }
                } onEscalated: { [self] priority in
                    raise(wait, to: PriorityLevel(priority))
                }
            } onCancel: {
                giveUp(wait, CancellationError())
            }
        }
    }

    /// In one step with the wait's taking its place: whoever sees it in line can end it.
    private func lineUp(_ continuation: CheckedContinuation<Void, any Error>, _ wait: SemaphoreWait) {
        let level = PriorityLevel(wait.priority ?? Task.currentPriority)
        let error = apply { storage -> (any Error)? in
            wait.place.withLock { place in
                switch place {
                case .notTaken(let raisedLevel):
                    let level = max(level, raisedLevel)
                    let ticket = storage.state.wait(
                        .task(continuation), weight: wait.weight, level: level, arrival: LineArrival(Rank.next()))
                    place = .taken(ticket)
                    return nil
                case .givenUp(let error): return error
                case .taken: preconditionFailure("a wait stands in line once")
                }
            }
        }
        if let error { continuation.resume(throwing: error) }
    }

    private func raise(_ wait: SemaphoreWait, to level: PriorityLevel) {
        let ticket = wait.place.withLock { place -> State.Ticket? in
            switch place {
            case .notTaken(let raisedLevel):
                place = .notTaken(raisedTo: max(raisedLevel, level))
                return nil
            case .taken(let ticket): return ticket
            case .givenUp: return nil
            }
        }
        if let ticket { apply { $0.state.raise(ticket, to: level) } }
    }

    private func giveUp(_ wait: SemaphoreWait, _ error: any Error) {
        let ticket = wait.place.withLock { place -> State.Ticket? in
            switch place {
            case .notTaken:
                place = .givenUp(error)
                return nil
            case .taken(let ticket): return ticket
            case .givenUp: return nil
            }
        }
        if let ticket { leave(ticket, error) }
    }

    private func leave(_ ticket: State.Ticket, _ error: any Error) {
        if case .task(let continuation) = apply({ $0.state.leave(ticket) }) { continuation.resume(throwing: error) }
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
    /// Serves the line as far as there are permits. Returns what to carry out with no lock held.
    mutating func serve() -> [SemaphoreWaiter] {
        var served: [SemaphoreWaiter] = []
        while let waiter = state.next() { served.append(waiter) }
        return served
    }
}
