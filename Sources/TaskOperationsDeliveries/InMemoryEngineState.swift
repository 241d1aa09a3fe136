internal import TaskOperations

/// The state of an engine in memory. It selects the next payload, and tracks the holders of payloads. Callers pass the
/// current time.
struct InMemoryEngineState<Payload: Sendable>: Sendable {
    /// A number that identifies the holder of a payload. Each delivery has a new number.
    typealias Receipt = Int

    enum Pull: Sendable {
        case delivery(id: Int, Payload, attempt: Int, Receipt)
        /// No payload is ready before this time. If nil, only another call can make a payload ready.
        case wait(until: Duration?)
        case end
    }

    private struct Entry: Sendable {
        let payload: Payload
        var attempt = 0
        /// The holder of the payload; nil if no worker holds it.
        var receipt: Receipt?
    }

    private let lease: Duration
    private var entries: [Int: Entry] = [:]
    /// The ready payloads begin at `firstReady`. Earlier items were delivered.
    private var ready: [Int] = []
    private var firstReady = 0
    /// The end of the lease, or of the delay after a rejection, of each payload that is not ready.
    private var ends = Timeline()
    private var lastID = 0
    private var lastReceipt = 0
    /// Whether the engine was closed.
    var isFinished = false

    init(lease: Duration) {
        self.lease = lease.saturated
    }

    /// The number of payloads that are not acknowledged.
    var count: Int { entries.count }

    /// Whether a pull returns at once.
    var hasNews: Bool { firstReady < ready.count || isFinished && entries.isEmpty }

    /// The time of the next end of a lease or of a delay; nil if there is none.
    var nextEnd: Duration? { ends.first?.time }

    mutating func holdingAttempt(of id: Int, at now: Duration) -> Int? {
        expire(at: now)
        return entries[id].flatMap { $0.receipt == nil ? nil : $0.attempt }
    }

    mutating func send(_ payload: Payload) -> Int {
        lastID += 1
        entries[lastID] = Entry(payload: payload)
        ready.append(lastID)
        return lastID
    }

    mutating func pull(at now: Duration) -> Pull {
        expire(at: now)
        if !hasNews { return .wait(until: nextEnd) }
        if firstReady == ready.count { return .end }
        let id = ready[firstReady]
        firstReady += 1
        if firstReady > 64, firstReady * 2 > ready.count {
            ready.removeFirst(firstReady)
            firstReady = 0
        }
        lastReceipt += 1
        entries[id]!.attempt += 1
        entries[id]!.receipt = lastReceipt
        ends[id] = now + lease
        return .delivery(id: id, entries[id]!.payload, attempt: entries[id]!.attempt, lastReceipt)
    }

    /// Removes and returns a payload. The caller releases the payload after unlocking.
    mutating func acknowledge(_ id: Int, _ receipt: Receipt, at now: Duration) throws(DeliveryLeaseLost) -> Payload {
        try check(id, receipt, at: now)
        ends[id] = nil
        return entries.removeValue(forKey: id)!.payload
    }

    mutating func reject(
        _ id: Int, _ receipt: Receipt, after delay: Duration, at now: Duration
    ) throws(DeliveryLeaseLost) {
        try check(id, receipt, at: now)
        entries[id]!.receipt = nil
        ends[id] = now + delay.saturated
        expire(at: now)
    }

    mutating func extend(
        _ id: Int, _ receipt: Receipt, by duration: Duration, at now: Duration
    ) throws(DeliveryLeaseLost) {
        try check(id, receipt, at: now)
        ends[id] = now + duration.saturated
    }

    private mutating func check(_ id: Int, _ receipt: Receipt, at now: Duration) throws(DeliveryLeaseLost) {
        expire(at: now)
        if entries[id]?.receipt != receipt { throw DeliveryLeaseLost() }
    }

    /// Ends all leases and delays that are over.
    private mutating func expire(at now: Duration) {
        while let (time, id) = ends.first, time <= now {
            ends[id] = nil
            entries[id]!.receipt = nil
            ready.append(id)
        }
    }
}
