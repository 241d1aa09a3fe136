/// The state of a consumer. It lists the held deliveries, and decides when the consumer pulls.
struct ConsumerState<Entry: Sendable>: Sendable {
    private struct Held: Sendable {
        let entry: Entry
        /// The time of the first check of the lease; nil after that check.
        var firstLook: Duration?
    }

    private var held: [Int: Held] = [:]
    /// The number of held deliveries whose bodies have not started.
    private(set) var waitingCount = 0
    /// The number of the latest unsettled delivery of each key.
    private var lastOfKey: [String: Int] = [:]
    private var lastNumber = 0
    /// The time of the next check of leases; nil if none is planned.
    private var nextLook: Duration?
    /// Whether the queue has rejected an operation. If true, the consumer no longer pulls.
    var isShutDown = false

    var isIdle: Bool { held.isEmpty }

    var entries: [Entry] { held.values.map(\.entry) }

    enum Turn: Hashable {
        /// Pull a delivery.
        case pull
        /// Wait until the queue has started an empty operation. Then pull.
        case waitForStart
        /// Wait for a held delivery to start or to be settled.
        case wait
        /// Stop pulling.
        case end
    }

    /// Returns the next step of the loop that pulls.
    ///
    /// - Parameters:
    ///   - width: The width of the queue.
    ///   - prefetch: The number of deliveries that may wait for their start.
    ///   - couldStartAnother: Whether the queue would certainly start another delivery at once.
    ///   - hasWaited: Whether the previous step was `waitForStart`.
    func turn(width: Int, prefetch: Int, couldStartAnother: Bool, hasWaited: Bool) -> Turn {
        if isShutDown { return .end }
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
        held[lastNumber] = Held(entry: entry, firstLook: firstLook)
        waitingCount += 1
        var predecessor: Entry?
        if let key {
            predecessor = lastOfKey[key].flatMap { held[$0]?.entry }
            lastOfKey[key] = lastNumber
        }
        return (lastNumber, predecessor, plan(firstLook))
    }

    /// Records that the body of a held delivery has started, or will never start.
    mutating func stoppedWaiting() { waitingCount -= 1 }

    /// Records that a delivery was settled. Returns the entry, so that the caller releases it after unlocking.
    mutating func settled(_ number: Int, key: String?) -> Entry? {
        if let key, lastOfKey[key] == number { lastOfKey[key] = nil }
        return held.removeValue(forKey: number)?.entry
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
        let due = held.filter { $0.value.firstLook.map { $0 <= now } ?? false }
        for number in due.keys { held[number]!.firstLook = nil }
        let next = held.values.compactMap(\.firstLook).min().flatMap { plan($0) }
        return (due.sorted { $0.key < $1.key }.map(\.value.entry), next)
    }
}
