/// The state of a consumer. It lists the held deliveries, and decides when the consumer pulls.
struct ConsumerState<Entry: Sendable>: Sendable {
    /// A delivery with a key, whose operation or an earlier operation of the key has not ended.
    private struct KeyedDelivery: Sendable {
        let entry: Entry
        var hasEnded = false
        /// Whether all earlier operations of the key have ended.
        var isFirst: Bool
        /// The number of the next delivery with the key.
        var next: Int?
    }

    private var held: [Int: Entry] = [:]
    /// The number of held deliveries whose bodies have not started.
    private(set) var waitingCount = 0
    private var keyed: [Int: KeyedDelivery] = [:]
    /// The number of the latest delivery of each key in `keyed`.
    private var lastOfKey: [String: Int] = [:]
    private var lastNumber = 0
    /// The times of the first checks of leases.
    private var looks = Timeline()
    /// The time of the next check of leases; nil if none is planned.
    private var nextLook: Duration?

    var isIdle: Bool { held.isEmpty }

    var entries: [Entry] { Array(held.values) }

    enum Turn: Hashable {
        /// Pull a delivery.
        case pull
        /// Wait until the queue has started an empty operation. Then pull.
        case waitForStart
        /// Wait for a held delivery to start or to be settled.
        case wait
    }

    /// Returns the next step of the loop that pulls.
    ///
    /// - Parameters:
    ///   - width: The width of the queue.
    ///   - prefetch: The number of deliveries that may wait for their start.
    ///   - isInBody: Whether a body performs the consumption.
    ///   - couldStartAnother: Whether the queue would certainly start another delivery at once.
    ///   - hasWaited: Whether the previous step was `waitForStart`.
    func turn(width: Int, prefetch: Int, isInBody: Bool, couldStartAnother: Bool, hasWaited: Bool) -> Turn {
        // If the queue cannot start deliveries before the body ends, the first wait fails before a delivery is pulled.
        if isInBody, lastNumber == 0, !hasWaited { return .waitForStart }
        let isFull = held.count - prefetch >= max(1, width)
        if prefetch > 0 { return !isFull && waitingCount < prefetch ? .pull : .wait }
        // With keys, `couldStartAnother` is ignored. The queue may contain deliveries that wait for earlier deliveries
        // of their keys.
        if hasWaited || couldStartAnother && lastOfKey.isEmpty { return isFull ? .wait : .pull }
        // A full consumer also waits for a start. So the queue orders the pulls of several consumers by priority.
        return waitingCount == 0 ? .waitForStart : .wait
    }

    /// - Returns: The number of the delivery, the predecessor with the same key, and the time of a check. The caller
    ///   must plan this check. The time is nil if an earlier check is already planned.
    mutating func pulled(
        _ entry: Entry, key: String?, firstLook: Duration
    ) -> (number: Int, predecessor: Entry?, look: Duration?) {
        lastNumber += 1
        held[lastNumber] = entry
        looks[lastNumber] = firstLook
        waitingCount += 1
        return (lastNumber, key.flatMap { append(entry, to: $0) }, plan(firstLook))
    }

    /// Records that the body of a held delivery has started, or will never start.
    mutating func stoppedWaiting() { waitingCount -= 1 }

    /// Records that a delivery was settled. Returns the entry, so that the caller releases it after unlocking.
    mutating func settled(_ number: Int) -> Entry? {
        looks[number] = nil
        return held.removeValue(forKey: number)
    }
}

// MARK: - Keys

extension ConsumerState {
    /// Adds the last delivery to the deliveries of a key. Returns its predecessor.
    private mutating func append(_ entry: Entry, to key: String) -> Entry? {
        let last = lastOfKey[key]
        keyed[lastNumber] = KeyedDelivery(entry: entry, isFirst: last == nil)
        lastOfKey[key] = lastNumber
        guard let last else { return nil }
        keyed[last]!.next = lastNumber
        return keyed[last]!.entry
    }

    /// Records that the operation of a delivery has ended.
    ///
    /// An operation can end before its predecessors, for example if it is cancelled before its start. Its successor
    /// must still wait for these predecessors.
    ///
    /// - Returns: The deliveries of the key whose operations and earlier operations have now all ended.
    mutating func operationEnded(_ number: Int, key: String) -> [Entry] {
        keyed[number]!.hasEnded = true
        var passed: [Entry] = []
        var first: Int? = number
        while let number = first, keyed[number]!.isFirst, keyed[number]!.hasEnded {
            let delivery = keyed.removeValue(forKey: number)!
            passed.append(delivery.entry)
            first = delivery.next
            if let first { keyed[first]!.isFirst = true } else { lastOfKey[key] = nil }
        }
        return passed
    }
}

// MARK: - Checks of leases

extension ConsumerState {
    private mutating func plan(_ look: Duration) -> Duration? {
        if let nextLook, nextLook <= look { return nil }
        nextLook = look
        return look
    }

    /// Performs a planned check. One check serves many deliveries, because most deliveries end before their first
    /// check.
    ///
    /// - Returns: The deliveries that need a task for lease extensions, and the time of the next check.
    mutating func look(at now: Duration) -> (due: [Entry], next: Duration?) {
        nextLook = nil
        var due: [Entry] = []
        while let (time, number) = looks.first, time <= now {
            looks[number] = nil
            due.append(held[number]!)
        }
        return (due, looks.first.flatMap { plan($0.time) })
    }
}
