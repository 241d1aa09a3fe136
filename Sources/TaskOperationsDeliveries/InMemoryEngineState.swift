internal import TaskOperations

/// The state of an engine. It selects the next payload, and tracks the holders of payloads. Callers pass the current
/// time.
///
/// `InMemoryEngine` keeps payloads in it, and `JournalEngine` their positions in files.
struct InMemoryEngineState<Payload: Sendable>: Sendable {
    /// A number that identifies the holder of a payload. Each delivery has a new number.
    typealias Receipt = Int

    enum Pull: Sendable {
        case delivery(id: Int, Payload, attempt: Int, Receipt)
        /// No payload is ready before this time. If nil, only another call can make a payload ready.
        case wait(until: Duration?)
        case end
    }

    enum Status: UInt8, Sendable {
        /// Waits for the end of a delay or a lease, for its storage, or for earlier payloads of its key.
        case waiting
        case ready
        /// Is no longer delivered after the current attempt, because another payload has replaced it.
        case outdated
        case dead
        case removed
    }

    struct Entry: Sendable {
        let id: Int
        /// Nil before the payload is stored, and after its removal.
        var payload: Payload?
        var priority: UInt8
        var status = Status.waiting
        /// The index of the key's lane; negative if there is no key.
        var lane: Int32 = -1
        /// The number of deliveries.
        var attempt: Int32 = 0
        /// The number of attempts that failed. An attempt that was given back has not failed.
        var failures: Int32 = 0
        /// The holder of the payload; 0 if no worker holds it.
        var receipt: Receipt = 0
        /// The neighbours in the lane; 0 if there is none.
        var previous = 0
        var next = 0
    }

    /// The payloads with one key, in the order of their arrival. Only the first one is delivered.
    private struct Lane: Sendable {
        let key: String
        var first: Int
        var last: Int
        /// The highest priority of a payload since the lane was created.
        var priority: UInt8
    }

    /// The ready payloads of one priority begin at `first`. Earlier items were delivered. Items that are not ready are
    /// skipped.
    private struct Level: Sendable {
        let priority: UInt8
        var ids: [Int] = []
        var first = 0
    }

    private let lease: Duration
    /// The number of failed attempts after which a payload is dead.
    private let maxAttempts: Int
    private let sizeOf: @Sendable (Payload) -> Int
    /// The sum of the sizes of all payloads.
    private(set) var size = 0
    /// In ascending order of their identities.
    private var entries: [Entry] = []
    private var removedCount = 0
    /// In descending order of their priorities.
    private var levels: [Level] = []
    private var readyCount = 0
    private var lanes: [Lane] = []
    private var freeLanes: [Int32] = []
    private var laneOfKey: [String: Int32] = [:]
    private var identities: [Int: String] = [:]
    private var idOfIdentity: [String: Int] = [:]
    /// The end of the lease, or of the delay, of each payload that has one.
    private var ends = Timeline()
    private var lastReceipt = 0
    private(set) var lastID = 0
    /// The number of payloads that are neither acknowledged nor dead.
    private(set) var count = 0
    private(set) var deadCount = 0
    /// The number of payloads that workers hold.
    private(set) var heldCount = 0
    /// The reasons of the last failures.
    private(set) var reasons: [Int: String] = [:]
    /// The payloads that have died since the owner has last emptied the list.
    var newlyDead: [Int] = []
    /// The payloads that were removed since the owner has last emptied the list. The owner releases them after unlocking.
    var released: [Payload] = []
    /// Whether the engine was closed.
    var isFinished = false

    /// - Parameter size: Returns the size of a payload.
    init(lease: Duration, maxAttempts: Int = .max, size: @escaping @Sendable (Payload) -> Int = { _ in 0 }) {
        self.lease = lease.saturated
        self.maxAttempts = maxAttempts
        sizeOf = size
    }

    /// Whether a pull returns at once.
    var hasNews: Bool { readyCount > 0 || isFinished && count == 0 }

    /// The time of the next end of a lease or of a delay; nil if there is none.
    var nextEnd: Duration? { ends.first?.time }

    subscript(id: Int) -> Entry? { index(of: id).map { entries[$0] } }

    /// The dead payloads, in the order of their arrival. O(n).
    var dead: [Entry] { entries.filter { $0.status == .dead } }

    /// The payloads after the one with an identity that are not removed, in their order.
    func entries(after id: Int, limit: Int, where isIncluded: (Entry) -> Bool) -> [Entry] {
        var found: [Entry] = []
        var index = firstIndex(after: id)
        while index < entries.count, found.count < limit {
            if entries[index].status != .removed, isIncluded(entries[index]) { found.append(entries[index]) }
            index += 1
        }
        return found
    }

    func identity(of id: Int) -> String? { identities[id] }

    func id(of identity: String) -> Int? { idOfIdentity[identity] }

    func end(of id: Int) -> Duration? { ends[id] }

    mutating func holdingAttempt(of id: Int, at now: Duration) -> Int? {
        expire(at: now)
        return self[id].flatMap { $0.receipt == 0 || $0.status == .removed ? nil : Int($0.attempt) }
    }
}

// MARK: - Adding and removing

extension InMemoryEngineState {
    /// - Parameter payload: The payload; nil if it is stored later.
    mutating func send(_ payload: Payload?, _ options: EnqueueOptions = EnqueueOptions(), at now: Duration = .zero)
        -> Int
    {
        if let identity = options.identity, let id = idOfIdentity[identity] {
            if !options.replaces { return id }
            replace(id)
        }
        let delay = options.delay.saturated
        let entry = Entry(id: lastID + 1, payload: payload, priority: options.priority.rawValue)
        insert(entry, key: options.laneKey, identity: options.identity)
        if delay > .zero { ends[lastID] = now + delay }
        makeReadyIfPossible(lastID)
        return lastID
    }

    /// Stores the payload of an entry that was added without one. Has no effect if the entry was removed.
    mutating func store(_ payload: Payload, for id: Int) {
        guard let index = index(of: id), entries[index].status != .removed else { return }
        put(payload, at: index)
        makeReadyIfPossible(id)
    }

    private mutating func put(_ payload: Payload?, at index: Int) {
        size += (payload.map(sizeOf) ?? 0) - (entries[index].payload.map(sizeOf) ?? 0)
        entries[index].payload = payload
    }

    /// Replaces payloads for which `move` returns another one. Has no effect on removed entries.
    mutating func move(_ id: Int, _ move: (Payload) -> Payload?) {
        guard let index = index(of: id), let payload = entries[index].payload, let moved = move(payload) else { return }
        put(moved, at: index)
    }

    /// Removes a payload that no worker holds. A held one is not delivered again.
    mutating func replace(_ id: Int) {
        guard let index = index(of: id) else { return }
        if entries[index].receipt == 0 { return remove(id) }
        entries[index].status = .outdated
        forgetIdentity(of: id)
    }

    mutating func remove(_ id: Int) {
        if let payload = take(id) { released.append(payload) }
    }

    /// Removes and returns a payload.
    private mutating func take(_ id: Int) -> Payload? {
        guard let index = index(of: id), entries[index].status != .removed else { return nil }
        count(entries[index].status, by: -1)
        hold(index, 0)
        forgetIdentity(of: id)
        reasons[id] = nil
        ends[id] = nil
        let payload = entries[index].payload
        put(nil, at: index)
        entries[index].status = .removed
        leaveLane(index)
        removedCount += 1
        if removedCount > 64, removedCount * 2 > entries.count {
            entries.removeAll { $0.status == .removed }
            removedCount = 0
        }
        shortenLevels()
        return payload
    }

    private mutating func count(_ status: Status, by change: Int) {
        if status == .dead { deadCount += change } else { count += change }
        if status == .ready { readyCount += change }
    }

    private mutating func hold(_ index: Int, _ receipt: Receipt) {
        heldCount += (receipt == 0 ? 0 : 1) - (entries[index].receipt == 0 ? 0 : 1)
        entries[index].receipt = receipt
    }

    private mutating func forgetIdentity(of id: Int) {
        guard let identity = identities.removeValue(forKey: id), idOfIdentity[identity] == id else { return }
        idOfIdentity[identity] = nil
    }

    private mutating func insert(_ entry: Entry, key: String?, identity: String?) {
        lastID = max(lastID, entry.id)
        entries.append(entry)
        size += entry.payload.map(sizeOf) ?? 0
        count(entry.status, by: 1)
        if let identity {
            identities[entry.id] = identity
            idOfIdentity[identity] = entry.id
        }
        if let key, entry.status != .dead { enterLane(entries.count - 1, key) }
    }

    private func index(of id: Int) -> Int? {
        let index = firstIndex(after: id - 1)
        return index < entries.count && entries[index].id == id ? index : nil
    }

    /// The index of the first entry with a higher identity. Identities without gaps take constant time.
    private func firstIndex(after id: Int) -> Int {
        guard let first = entries.first?.id, first <= id else { return 0 }
        let high = min(id - first + 1, entries.count)
        if high == entries.count || entries[high].id > id, entries[high - 1].id <= id { return high }
        return entries[..<high].partitioningIndex { $0.id > id }
    }
}

// MARK: - Delivering

extension InMemoryEngineState {
    mutating func pull(at now: Duration) -> Pull {
        expire(at: now)
        if !hasNews { return .wait(until: nextEnd) }
        guard let index = takeNextReady() else { return .end }
        lastReceipt += 1
        entries[index].status = .waiting
        readyCount -= 1
        entries[index].attempt += 1
        hold(index, lastReceipt)
        let entry = entries[index]
        ends[entry.id] = now + lease
        return .delivery(id: entry.id, entry.payload!, attempt: Int(entry.attempt), lastReceipt)
    }

    /// Removes and returns a payload. The caller releases the payload after unlocking.
    mutating func acknowledge(_ id: Int, _ receipt: Receipt, at now: Duration) throws(DeliveryLeaseLost) -> Payload {
        _ = try check(id, receipt, at: now)
        return take(id)!
    }

    /// - Parameter reason: The reason of the failure; nil if the attempt has not failed.
    mutating func reject(
        _ id: Int, _ receipt: Receipt, after delay: Duration, because reason: String? = nil, at now: Duration
    ) throws(DeliveryLeaseLost) {
        let index = try check(id, receipt, at: now)
        endAttempt(index, reason)
        if self[id]?.status == .waiting { ends[id] = now + delay.saturated }
        expire(at: now)
    }

    /// Ends the attempt, and makes the payload a dead one.
    mutating func bury(
        _ id: Int, _ receipt: Receipt, because reason: String, at now: Duration
    ) throws(DeliveryLeaseLost) {
        let index = try check(id, receipt, at: now)
        endAttempt(index, reason)
        if let index = self.index(of: id), entries[index].status == .waiting { bury(index) }
    }

    mutating func extend(
        _ id: Int, _ receipt: Receipt, by duration: Duration, at now: Duration
    ) throws(DeliveryLeaseLost) {
        _ = try check(id, receipt, at: now)
        ends[id] = now + duration.saturated
    }

    private mutating func check(_ id: Int, _ receipt: Receipt, at now: Duration) throws(DeliveryLeaseLost) -> Int {
        expire(at: now)
        guard let index = index(of: id), entries[index].receipt == receipt, entries[index].status != .removed else {
            throw DeliveryLeaseLost()
        }
        return index
    }

    /// Ends the delays of payloads that have failed, among up to `limit` payloads after the one with an identity. Returns
    /// the last one of these; nil if there are no more payloads.
    mutating func endDelaysAfterFailures(after id: Int, limit: Int) -> Int? {
        let first = firstIndex(after: id)
        let end = min(first + limit, entries.count)
        if first == end { return nil }
        for index in first..<end where entries[index].failures > 0 && entries[index].receipt == 0 {
            ends[entries[index].id] = nil
            makeReadyIfPossible(entries[index].id)
        }
        return entries[end - 1].id
    }

    /// Ends all leases and delays that are over.
    mutating func expire(at now: Duration) {
        while let (time, id) = ends.first, time <= now {
            ends[id] = nil
            guard let index = index(of: id) else { continue }
            if entries[index].receipt != 0 { endAttempt(index, "the lease has ended") }
            makeReadyIfPossible(id)
        }
    }

    private mutating func endAttempt(_ index: Int, _ reason: String?) {
        let id = entries[index].id
        hold(index, 0)
        ends[id] = nil
        if entries[index].status == .outdated { return remove(id) }
        guard let reason else { return }
        entries[index].failures += 1
        reasons[id] = reason
        if entries[index].failures >= maxAttempts { bury(index) }
    }

    private mutating func bury(_ index: Int) {
        count(entries[index].status, by: -1)
        entries[index].status = .dead
        count(.dead, by: 1)
        ends[entries[index].id] = nil
        newlyDead.append(entries[index].id)
        leaveLane(index)
    }

    private mutating func makeReadyIfPossible(_ id: Int) {
        guard let index = index(of: id) else { return }
        let entry = entries[index]
        guard entry.status == .waiting, entry.receipt == 0, entry.payload != nil, entry.previous == 0, ends[id] == nil
        else { return }
        entries[index].status = .ready
        readyCount += 1
        appendToLevel(id, entry.lane < 0 ? entry.priority : lanes[Int(entry.lane)].priority)
    }
}

// MARK: - Order

extension InMemoryEngineState {
    private mutating func enterLane(_ index: Int, _ key: String) {
        let (id, priority) = (entries[index].id, entries[index].priority)
        if let lane = laneOfKey[key] {
            entries[index].lane = lane
            let last = lanes[Int(lane)].last
            entries[index].previous = last
            entries[self.index(of: last)!].next = id
            lanes[Int(lane)].last = id
            if priority > lanes[Int(lane)].priority { raise(Int(lane), to: priority) }
        } else {
            let lane = freeLanes.popLast() ?? Int32(lanes.count)
            let new = Lane(key: key, first: id, last: id, priority: priority)
            if lane < lanes.count { lanes[Int(lane)] = new } else { lanes.append(new) }
            laneOfKey[key] = lane
            entries[index].lane = lane
        }
    }

    /// An urgent payload must not wait behind payloads of its key that are less urgent than others.
    private mutating func raise(_ lane: Int, to priority: UInt8) {
        lanes[lane].priority = priority
        let first = lanes[lane].first
        if self[first]?.status == .ready { appendToLevel(first, priority) }
    }

    private mutating func leaveLane(_ index: Int) {
        let entry = entries[index]
        if entry.lane < 0 { return }
        let lane = Int(entry.lane)
        (entries[index].lane, entries[index].previous, entries[index].next) = (-1, 0, 0)
        if let before = self.index(of: entry.previous) { entries[before].next = entry.next }
        if let after = self.index(of: entry.next) { entries[after].previous = entry.previous }
        if entry.previous == 0 { lanes[lane].first = entry.next }
        if entry.next == 0 { lanes[lane].last = entry.previous }
        if entry.previous == 0, entry.next == 0 {
            laneOfKey[lanes[lane].key] = nil
            lanes[lane] = Lane(key: "", first: 0, last: 0, priority: 0)
            freeLanes.append(entry.lane)
        } else if entry.previous == 0 {
            makeReadyIfPossible(entry.next)
        }
    }

    private mutating func appendToLevel(_ id: Int, _ priority: UInt8) {
        var position = levels.firstIndex { $0.priority <= priority } ?? levels.count
        if position == levels.count || levels[position].priority != priority {
            levels.insert(Level(priority: priority), at: position)
            position = levels.firstIndex { $0.priority == priority }!
        }
        levels[position].ids.append(id)
    }

    /// Removes and returns the index of the next ready payload; nil if there is none.
    private mutating func takeNextReady() -> Int? {
        for level in levels.indices {
            while levels[level].first < levels[level].ids.count {
                let id = levels[level].ids[levels[level].first]
                levels[level].first += 1
                if levels[level].first > 64, levels[level].first * 2 > levels[level].ids.count {
                    levels[level].ids.removeFirst(levels[level].first)
                    levels[level].first = 0
                }
                if let index = index(of: id), entries[index].status == .ready { return index }
            }
        }
        return nil
    }

    /// Removes the items that are not ready if they are the majority.
    private mutating func shortenLevels() {
        let length = levels.reduce(0) { $0 + $1.ids.count - $1.first }
        if length <= 2 * readyCount + 64 { return }
        for level in levels.indices {
            let ids = levels[level].ids[levels[level].first...]
            levels[level].ids = ids.filter { self[$0]?.status == .ready }
            levels[level].first = 0
        }
    }
}

// MARK: - Restoring

extension InMemoryEngineState {
    /// Adds a payload of an earlier process. `activate` must follow before the first pull.
    ///
    /// - Parameter isHeld: Whether a worker of that process holds it.
    mutating func restore(_ entry: Entry, isHeld: Bool, key: String?, identity: String?, reason: String?) {
        insert(entry, key: key, identity: identity)
        reasons[entry.id] = reason
        if isHeld, entry.status != .dead { hold(entries.count - 1, -1) }
    }

    /// Restores a later event of a payload. Has no effect if the payload was removed, or is dead.
    mutating func restore(
        _ id: Int, attempt: Int32? = nil, failures: Int32, isHeld: Bool, isDead: Bool = false, reason: String? = nil
    ) {
        guard let index = index(of: id), entries[index].status == .waiting else { return }
        if let attempt { entries[index].attempt = attempt }
        entries[index].failures = failures
        hold(index, isHeld ? -1 : 0)
        if let reason { reasons[id] = reason }
        if isDead { bury(index) }
    }

    /// Restores the end of a delay.
    mutating func restoreEnd(_ end: Duration?, of id: Int) {
        if let entry = self[id], entry.status == .waiting { ends[id] = end }
    }

    /// The payloads up to `id` existed, even if none of them is left.
    mutating func restoreLastID(_ id: Int) { lastID = max(lastID, id) }

    /// Ends all restored attempts, and makes payloads ready.
    mutating func activate() {
        (newlyDead, released) = ([], [])
        for index in entries.indices where entries[index].receipt != 0 && entries[index].status == .waiting {
            endAttempt(index, "the process has ended")
        }
        for id in entries.map(\.id) { makeReadyIfPossible(id) }
    }
}
