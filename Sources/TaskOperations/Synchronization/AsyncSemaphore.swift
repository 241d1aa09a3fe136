/// Permits that tasks take and give back: a limit on how many do something at once, without blocking a thread.
///
/// Whoever has to wait is served in the order of priority, then arrival, and rises when its task is escalated.
/// Each call is constant time, however many wait.
///
/// ```swift
/// let connections = AsyncSemaphore(capacity: 6)
/// let page = try await connections.withPermit { try await load(url) }
/// ```
public final class AsyncSemaphore: Sendable {
    private typealias State = SemaphoreState<CheckedContinuation<Void, any Error>>

    private let state: Lock<State>

    /// Makes a semaphore with all its permits at hand.
    ///
    /// - Parameter capacity: How many permits there are; not negative. With 0 all wait until it is raised.
    public init(capacity: Int) {
        Self.checkCapacity(capacity)
        state = Lock(State(capacity: capacity))
    }

    /// How many permits there are, taken or not. Raising it lets waiting tasks go on at once; lowering it takes
    /// nothing back. A task that waits for more than a lowered capacity waits until it is raised again.
    public var capacity: Int {
        get { state.withLock { $0.permits.capacity } }
        set {
            Self.checkCapacity(newValue)
            apply { $0.setCapacity(newValue) }
        }
    }

    /// How many permits nobody has.
    public var available: Int { state.withLock { $0.permits.available } }

    /// How many tasks wait.
    public var waitingCount: Int { state.withLock { $0.waitingCount } }

    private static func checkCapacity(_ capacity: Int) {
        require(capacity >= 0, "capacity is \(capacity); it must not be negative.")
    }
}

// MARK: - Acquiring

extension AsyncSemaphore {
    /// Takes permits, once they are there and nobody with a claim to them waits.
    ///
    /// - Parameters:
    ///   - weight: How many; at least 1 and at most `capacity`.
    ///   - priority: What orders this among others that wait; the calling task's where none is given.
    /// - Throws: `CancellationError` where the task is cancelled before it has the permits. It has none then.
    public func acquire(_ weight: Int = 1, priority: TaskPriority? = nil) async throws(CancellationError) {
        checkWeight(weight, isBoundedByCapacity: true)
        if Task.isCancelled { throw CancellationError() }
        if tryAcquire(weight) { return }
        let place = Lock(Place.notTaken)
        do {
            try await withTaskCancellationHandler {
                try await withEscalationHandler {
                    try await withCheckedThrowingContinuation { continuation in
                        line(up: continuation, weight, PriorityLevel(priority ?? Task.currentPriority), at: place)
                    }
                } onEscalated: { [self] priority in
                    if case .taken(let ticket) = place.withLock({ $0 }) {
                        apply { $0.raise(ticket, to: PriorityLevel(priority)) }
                    }
                }
            } onCancel: {
                giveUp(place)
            }
        } catch {
            throw CancellationError()
        }
    }

    /// Takes permits where that is possible without waiting and without overtaking anybody.
    ///
    /// - Parameter weight: How many; at least 1 and at most `capacity`.
    /// - Returns: Whether they were taken.
    public func tryAcquire(_ weight: Int = 1) -> Bool {
        checkWeight(weight, isBoundedByCapacity: true)
        return state.withLock { $0.tryAcquire(weight) }
    }

    /// Gives permits back. Those who wait for them go on at once.
    ///
    /// - Parameter weight: How many; no more than are taken.
    public func release(_ weight: Int = 1) {
        checkWeight(weight, isBoundedByCapacity: false)
        apply { $0.release(weight) }
    }

    /// Does something with permits, which are given back however it ends.
    ///
    /// - Parameters:
    ///   - weight: How many permits; at least 1 and at most `capacity`.
    ///   - priority: What orders this among others that wait; the calling task's where none is given.
    /// - Throws: What `body` throws, or `CancellationError` where the task is cancelled before it has the permits.
    public func withPermit<Value>(
        weight: Int = 1, priority: TaskPriority? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        try await acquire(weight, priority: priority)
        defer { release(weight) }
        return try await body()
    }

    private func checkWeight(_ weight: Int, isBoundedByCapacity: Bool) {
        require(weight > 0, "weight is \(weight); it must be at least 1.")
        guard isBoundedByCapacity else { return }
        let capacity = capacity
        require(weight <= capacity || capacity == 0, "weight is \(weight); the capacity is only \(capacity).")
    }
}

// MARK: - Waiting

extension AsyncSemaphore {
    /// Where a call of `acquire` stands. Cancellation may come before its place is taken.
    private enum Place: Sendable {
        case notTaken
        case taken(State.Ticket)
        case givenUp
    }

    private func line(
        up continuation: CheckedContinuation<Void, any Error>, _ weight: Int, _ level: PriorityLevel,
        at place: borrowing Lock<Place>
    ) {
        let ticket = apply { $0.wait(continuation, weight: weight, level: level) }
        let wasGivenUp = place.withLock { place in
            if case .givenUp = place { return true }
            place = .taken(ticket)
            return false
        }
        if wasGivenUp { leave(ticket) }
    }

    private func giveUp(_ place: borrowing Lock<Place>) {
        let ticket = place.withLock { place -> State.Ticket? in
            defer { place = .givenUp }
            return if case .taken(let ticket) = place { ticket } else { nil }
        }
        if let ticket { leave(ticket) }
    }

    private func leave(_ ticket: State.Ticket) {
        let waiter = apply { $0.leave(ticket) }
        waiter?.resume(throwing: CancellationError())
    }

    /// Applies an event, and lets those go on who have their permits then.
    private func apply<Result: Sendable>(_ event: (inout State) -> Result) -> Result {
        let (result, served) = state.withLock { state in
            let result = event(&state)
            var served: [CheckedContinuation<Void, any Error>] = []
            while let waiter = state.next() { served.append(waiter) }
            return (result, served)
        }
        for continuation in served { continuation.resume() }
        return result
    }
}
