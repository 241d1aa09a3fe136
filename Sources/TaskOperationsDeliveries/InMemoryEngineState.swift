/// Selects the deliveries of an engine in memory, and tracks their holders. A pure value: callers pass the current
/// time.
struct InMemoryEngineState<Payload: Sendable>: Sendable {
    /// The holder of a delivery. Each holder has its own number.
    typealias Receipt = Int

    enum Pull: Sendable {
        case delivery(id: Int, Payload, attempt: Int, Receipt)
        /// No payload can be delivered before this time; nil if only a call can make a payload available.
        case wait(until: Duration?)
        case end
    }

    private struct Entry: Sendable {
        let payload: Payload
        var attempt = 0
        /// The holder of the payload; nil without a holder.
        var receipt: Receipt?
        /// The end of the lease, or of the delay after a rejection; nil if the payload is ready.
        var due: Duration?
    }

    private let lease: Duration
    private var entries: [Int: Entry] = [:]
    /// The payloads that can be delivered, from `firstReady` on.
    private var ready: [Int] = []
    private var firstReady = 0
    /// The ends of leases and delays, the earliest last. An item can be outdated; `due` of its entry is correct.
    private var timeline: [(due: Duration, id: Int)] = []
    private var lastID = 0
    private var lastReceipt = 0
    /// True after the engine was closed.
    var isFinished = false

    init(lease: Duration) {
        self.lease = lease
    }

    /// The number of payloads that are not acknowledged.
    var count: Int { entries.count }

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
        if firstReady == ready.count { return isFinished && entries.isEmpty ? .end : .wait(until: nextDue) }
        let id = ready[firstReady]
        firstReady += 1
        if firstReady > 64, firstReady * 2 > ready.count {
            ready.removeFirst(firstReady)
            firstReady = 0
        }
        lastReceipt += 1
        entries[id]!.attempt += 1
        entries[id]!.receipt = lastReceipt
        setDue(now + lease, of: id)
        return .delivery(id: id, entries[id]!.payload, attempt: entries[id]!.attempt, lastReceipt)
    }

    /// Removes a payload. Returns it, so that the caller releases it after unlocking.
    mutating func acknowledge(_ id: Int, _ receipt: Receipt, at now: Duration) throws(DeliveryLeaseLost) -> Payload {
        try check(id, receipt, at: now)
        return entries.removeValue(forKey: id)!.payload
    }

    mutating func reject(
        _ id: Int, _ receipt: Receipt, after delay: Duration, at now: Duration
    ) throws(DeliveryLeaseLost) {
        try check(id, receipt, at: now)
        entries[id]!.receipt = nil
        setDue(now + delay, of: id)
        expire(at: now)
    }

    mutating func extend(
        _ id: Int, _ receipt: Receipt, by duration: Duration, at now: Duration
    ) throws(DeliveryLeaseLost) {
        try check(id, receipt, at: now)
        setDue(now + duration, of: id)
    }

    private mutating func check(_ id: Int, _ receipt: Receipt, at now: Duration) throws(DeliveryLeaseLost) {
        expire(at: now)
        if entries[id]?.receipt != receipt { throw DeliveryLeaseLost() }
    }

    private mutating func setDue(_ due: Duration, of id: Int) {
        entries[id]!.due = due
        // Linear in the number of entries that are due before this entry.
        let place = timeline.lastIndex { $0.due >= due }.map { $0 + 1 } ?? 0
        timeline.insert((due, id), at: place)
    }

    private var nextDue: Duration? { timeline.last?.due }

    /// Ends the leases and delays that are due.
    private mutating func expire(at now: Duration) {
        while let (due, id) = timeline.last, due <= now || entries[id]?.due != due {
            timeline.removeLast()
            guard entries[id]?.due == due else { continue }
            entries[id]!.due = nil
            entries[id]!.receipt = nil
            ready.append(id)
        }
    }
}
