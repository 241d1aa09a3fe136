import TaskOperationsExtras

/// The state of a consumer. It lists the held deliveries, and decides when the consumer pulls.
struct ConsumerState<Entry: Sendable>: Sendable {
    private var held: [Int: Entry] = [:]
    /// The number of held deliveries whose bodies have not started.
    private(set) var waitingCount = 0
    /// The deliveries with keys whose operations, or earlier operations of the key, have not ended.
    private var order = KeyedOrder<String, Entry>()
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
        if hasWaited || couldStartAnother && order.isEmpty { return isFull ? .wait : .pull }
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
        return (lastNumber, key.flatMap { order.append(entry, lastNumber, of: $0) }, plan(firstLook))
    }

    /// Records that the body of a held delivery has started, or will never start.
    mutating func stoppedWaiting() { waitingCount -= 1 }

    /// Records that a delivery was settled. Returns the entry, so that the caller releases it after unlocking.
    mutating func settled(_ number: Int) -> Entry? {
        looks[number] = nil
        return held.removeValue(forKey: number)
    }
}

extension ConsumerState {
    /// Records that the operation of a delivery with a key has ended.
    ///
    /// - Returns: The deliveries of the key whose operations and earlier operations have now all ended.
    mutating func operationEnded(_ number: Int) -> [Entry] { order.ended(number) }
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
