/// Makes all decisions of a limit, which is an `AsyncSemaphore`. It is a pure value.
///
/// 1. At most `capacity` permits are taken in total, and at most `capacityPerKey` permits for each key, unless the key
///    has its own capacity. If a weight is above a capacity, it is served alone: when no other permit is taken in total,
///    or for the key.
/// 2. Higher levels are served first.
/// 3. Within a level, keys are served by start-time fair queueing. Each key has a tag. Serving an entry raises the tag
///    of its key by weight / share, and the key with the lowest tag is served first. A key that was not waiting for a
///    turn gets no credit: its tag is at least the tag that was served last. Therefore, a new key waits for at most one
///    entry of each other key.
/// 4. Within a key and a level, entries are served in the order of arrival.
/// 5. An entry that lacks permits in total blocks all entries behind it, and therefore cannot starve. An entry that
///    lacks permits of its key blocks only the entries of its key.
/// 6. Entries without a key have one tag together, and only the capacity in total.
/// 7. At most `queuedLimit` operations are queued in total, and at most `queuedLimitPerKey` for each key, in addition to
///    one operation for each free permit.
/// 8. Each service uses as many tokens of the rate in total, and of the rate of its key, as it costs. An entry that lacks
///    tokens, or whose key is paused, waits like an entry that lacks permits. `LimitRates` counts the tokens.
///
/// An entry is either a task, or a claim of a queue whose operations are limited by the semaphore. Both are served in
/// the same way: the entry receives its permits and leaves the line.
///
/// The algorithm is that of P. Goyal, H. M. Vin and H. Cheng, "Start-Time Fair Queueing: A Scheduling Algorithm for
/// Integrated Services Packet Switching Networks", IEEE/ACM Transactions on Networking 5, 1997. Deficit round robin
/// would need the largest weight in advance.
struct LimitState<Waiter: Sendable>: Sendable {
    /// The number of a key; nil for entries without a key.
    typealias Key = Int

    private struct Record: Sendable {
        let waiter: Waiter
        let entry: ReadyQueue.Entry
        let weight: Int
        let key: Key?
        let cost: Int
        var level: PriorityLevel
        let isClaim: Bool
    }

    /// Identifies an entry in line. After the entry has left the line, the ticket identifies no entry.
    struct Ticket: Hashable, Sendable {
        fileprivate let entry: ReadyQueue.Entry
    }

    private(set) var permits: Permits
    /// The number of permits for each key.
    private(set) var capacityPerKey: Int
    private var records = SlotMap<Record>()
    /// The slot of the entry that arrived last.
    private var lastSlot = 0
    private(set) var claimCount = 0
    /// Whether a task ever called the limit. A task may have permits of the limit and await another limit.
    private(set) var servesTasks = false
    /// The line of entries without a key.
    private var keyless = KeyLine()
    private var keys = SlotMap<KeyLine>()
    /// Whether the capacity of a key was lowered below its permits. Remains true while permits are taken.
    private var isKeyExceeded = false
    /// The order of the lines; not used if there are no keys.
    private var turns = Turns()
    /// The maximum numbers of queued operations, in total and for each key; `Int.max` without a bound.
    var queuedLimit = Int.max
    var queuedLimitPerKey = Int.max
    /// The number of queued operations that were added under a bound.
    private(set) var queuedCount = 0
    /// Nil if the limit never had a rate.
    private var rates: Boxed<LimitRates>?

    init(capacity: Int, perKey: Int = .max) {
        permits = Permits(capacity: capacity)
        capacityPerKey = perKey
    }

    /// Whether a release of permits and an acquisition of the same permits change nothing if nothing else waits: no time
    /// decides, no capacity is exceeded, and there are no tags of other keys, which each acquisition would pass.
    var isSteady: Bool { !isTimed && permits.taken <= permits.capacity && !isKeyExceeded && hasOneTag }

    /// Whether at most one key is in use, and no permits were taken without a key since its first use.
    private var hasOneTag: Bool { keys.count == 0 || (keys.count == 1 && keyless.tags == PerLevel(0)) }

    var isLineEmpty: Bool { records.count == 0 }

    /// The only waiter in line; nil if there are others, or if one that arrived later has left.
    var onlyWaiter: Waiter? { records.count == 1 && records.holds(lastSlot) ? records[lastSlot].waiter : nil }

    /// The number of waiting tasks.
    var waitingCount: Int { records.count - claimCount }

    var keyCount: Int { keys.count }

    func takenCount(of key: Key) -> Int { keys[key].taken }

    /// The number of tasks that wait for permits of a key. Takes linear time in the number of entries.
    func waitingCount(of key: Key) -> Int { records.all.count { $0.key == key && !$0.isClaim } }
}

/// The entries with one key.
private struct KeyLine: Sendable {
    var line = ReadyQueue()
    /// The number of permits that are taken for the key.
    var taken = 0
    /// The number of queued operations of the key that were added under a bound.
    var queuedCount = 0
    var share = 1
    /// The number of permits of this key; nil for the number of every key.
    var capacity: Int?
    /// The tag of the key at each level.
    var tags = PerLevel<UInt128>(0)
    /// The number of the key's turn; 0 if the key has no turn.
    var turn: UInt64 = 0
    /// The time of the alarm for the tokens of the first entry; nil if none is planned.
    var alarmTime: Duration?

    /// Whether the permits of the key suffice for a weight.
    func admits(_ weight: Int, of capacity: Int) -> Bool {
        weight <= capacity - taken || (taken == 0 && capacity > 0)
    }
}

/// The order in which lines are served.
private struct Turns: Sendable {
    struct Turn: Sendable, HeapElement {
        let level: PriorityLevel
        let tag: UInt128
        /// The arrival of the first entry.
        let arrival: UInt64
        let number: UInt64
        let key: Int?

        func isBefore(_ other: Turn) -> Bool {
            if level != other.level { return level > other.level }
            return tag == other.tag ? arrival < other.arrival : tag < other.tag
        }
    }

    /// Includes turns that no longer are the turn of their key.
    var heap = Heap<Turn>()
    /// The number of keys that have a turn.
    var count = 0
    var lastNumber: UInt64 = 0
    /// The highest tag that was served at each level.
    var served = PerLevel<UInt128>(0)
    /// Whether a key was removed whose tag was above the last service of the level.
    var hasLostLead = PerLevel(false)
}

// MARK: - Keys

extension LimitState {
    /// Adds a key without permits, whose share is 1.
    ///
    /// The key may have been removed after its last use, and its tag with it. If the tag of a removed key was above the
    /// last service, the new key is one permit behind that service. Otherwise, a key that is removed after each use
    /// would return with the lowest tag each time, and be served before all keys that stay.
    mutating func addKey() -> Key {
        var line = KeyLine()
        for level in PriorityLevel.allCases where turns.hasLostLead[level] {
            line.tags[level] = turns.served[level] + 1 << 16
        }
        let key = keys.insert(line)
        if keys.count == 1, !keyless.line.isEmpty { giveTurn(nil) }
        return key
    }

    /// Removes a key that has no entries and no permits.
    mutating func removeKey(_ key: Key) {
        let line = keys.remove(at: key)
        assert(
            line.taken == 0 && line.queuedCount == 0 && line.line.isEmpty,
            "a key with permits, entries or queued operations was removed")
        for level in PriorityLevel.allCases where line.tags[level] > turns.served[level] {
            turns.hasLostLead[level] = true
        }
        if keys.count > 0 { return }
        turns = Turns()
        keyless.turn = 0
        keyless.tags = PerLevel(0)
    }

    /// Sets the share of a key, from its next entry on.
    mutating func setShare(_ share: Int, of key: Key) {
        keys.update(key) { $0.share = share }
    }

    /// Sets the number of permits for a key; nil for the number of every key.
    mutating func setCapacity(_ capacity: Int?, of key: Key) {
        keys.update(key) { $0.capacity = capacity }
        noteCapacity(of: key)
    }

    /// Whether a key has a share other than 1, or its own capacity.
    func hasSettings(_ key: Key) -> Bool { keys.read(key) { $0.share != 1 || $0.capacity != nil } }

    private var hasKeys: Bool { keys.count > 0 }

    @inline(__always)
    private func read<Result>(_ key: Key?, _ body: (KeyLine) -> Result) -> Result {
        if let key { keys.read(key, body) } else { body(keyless) }
    }

    @inline(__always)
    private mutating func update<Result>(_ key: Key?, _ change: (inout KeyLine) -> Result) -> Result {
        if let key { keys.update(key, change) } else { change(&keyless) }
    }

    /// The number of permits for each key, or for the entries without a key.
    func capacity(of key: Key?) -> Int { key.map { keys.read($0) { $0.capacity } ?? capacityPerKey } ?? .max }
}

// MARK: - Room

extension LimitState {
    /// A bound of queued operations.
    enum QueuedBound: Hashable, Sendable {
        case inTotal, ofKey
    }

    /// Counts an operation that is added. If a bound leaves no room for it, returns that bound, and does not count it.
    mutating func addQueued(for key: Key?) -> QueuedBound? {
        if queuedCount - permits.available >= queuedLimit { return .inTotal }
        if let key {
            let capacity = capacity(of: key)
            let isFull = keys.read(key) { line in
                line.queuedCount - min(permits.available, max(0, capacity - line.taken)) >= queuedLimitPerKey
            }
            if isFull { return .ofKey }
        }
        queuedCount += 1
        if let key { keys.update(key) { $0.queuedCount += 1 } }
        return nil
    }

    /// Records that an operation that `addQueued` has counted has started, has ended, or was withdrawn.
    mutating func removeQueued(for key: Key?) {
        queuedCount -= 1
        if let key { keys.update(key) { $0.queuedCount -= 1 } }
    }
}

// MARK: - Tasks

extension LimitState {
    /// Records that a task calls the limit. If it is the first one, returns the claims in line, which must stop keeping
    /// permits. Then takes linear time in the number of entries.
    mutating func noteTask() -> [Waiter] {
        if servesTasks { return [] }
        servesTasks = true
        return records.all.filter(\.isClaim).map(\.waiter)
    }
}

// MARK: - Permits

extension LimitState {
    /// Takes permits if enough permits are free in total and for the key, and no entry that could use them waits.
    /// Returns false if it takes no permits.
    ///
    /// - Parameters:
    ///   - isClaim: Whether a claim calls. If its weight is above a capacity, it is served alone.
    ///   - cost: The number of tokens that the permits use.
    ///   - isTimeKnown: Whether the time is that of the clock. Otherwise, a claim of a limit with a rate waits: a queue
    ///     cannot read a clock under its lock.
    mutating func tryAcquire(
        _ weight: Int, for key: Key? = nil, cost: Int = 1, level: PriorityLevel = .medium, isClaim: Bool = false,
        isTimeKnown: Bool = true
    ) -> Bool {
        guard turns.count == 0, isClaim ? permits.admits(weight) : permits.fits(weight) else { return false }
        let capacity = capacity(of: key)
        let isFree = read(key) { line in
            line.line.isEmpty && (isClaim ? line.admits(weight, of: capacity) : weight <= capacity - line.taken)
        }
        if !isFree || (rates != nil && (!isTimeKnown && isTimed || !hasTokens(for: key, cost: cost))) { return false }
        permits.take(weight)
        note(weight, cost: cost, takenFor: key, at: level)
        return true
    }

    /// Uses tokens of the rates, and raises the tag of a key by the permits that it takes.
    private mutating func note(_ weight: Int, cost: Int, takenFor key: Key?, at level: PriorityLevel) {
        if rates != nil { rates!.value.take(cost, for: key) }
        if !hasKeys { return }
        let served = turns.served[level]
        let tag = update(key) { line in
            if key != nil { line.taken += weight }
            let tag = max(line.tags[level], served)
            let step = UInt128(weight) << 16
            line.tags[level] = tag + (line.share == 1 ? step : step / UInt128(line.share))
            return tag
        }
        if tag > turns.served[level] { turns.hasLostLead[level] = false }
        turns.served[level] = tag
    }

    /// - Parameter isUnused: Whether the permits were not used, so that the tokens of their cost are put back.
    mutating func release(_ weight: Int, for key: Key? = nil, cost: Int = 1, isUnused: Bool = false) {
        permits.giveBack(weight)
        if isUnused { giveBackTokens(of: cost, for: key) }
        if permits.taken == 0 { isKeyExceeded = false }
        if !hasKeys { return }
        if key != nil { update(key) { $0.taken -= weight } }
        giveTurn(key)
    }

    /// Puts back the tokens of permits that were not used.
    mutating func giveBackTokens(of cost: Int, for key: Key?) { rates?.value.giveBack(cost, for: key) }

    mutating func setCapacity(_ capacity: Int) {
        permits.capacity = capacity
    }

    /// Sets the number of permits for each key. Takes linear time in the number of keys.
    mutating func setCapacityPerKey(_ capacity: Int) {
        capacityPerKey = capacity
        for key in keys.slots { noteCapacity(of: key) }
    }

    private mutating func noteCapacity(of key: Key) {
        if takenCount(of: key) > self.capacity(of: key) { isKeyExceeded = true }
        giveTurn(key)
    }
}

// MARK: - Entries

extension LimitState {
    /// Adds an entry to the line.
    ///
    /// - Parameters:
    ///   - arrival: The arrival, which decides the order within a level.
    ///   - isClaim: Whether the entry is a claim, which `waitingCount` does not include.
    mutating func wait(
        _ waiter: Waiter, weight: Int, for key: Key? = nil, cost: Int = 1, level: PriorityLevel, arrival: LineArrival,
        isClaim: Bool = false
    ) -> Ticket {
        let entry = ReadyQueue.Entry(arrival: arrival.number, slot: records.nextSlot)
        records.insert(
            Record(waiter: waiter, entry: entry, weight: weight, key: key, cost: cost, level: level, isClaim: isClaim),
            at: entry.slot)
        lastSlot = entry.slot
        if isClaim { claimCount += 1 }
        insert(entry, key, at: level)
        return Ticket(entry: entry)
    }

    /// Removes an entry. Returns its waiter; nil if the entry is no longer in line.
    @discardableResult
    mutating func leave(_ ticket: Ticket) -> Waiter? {
        guard isWaiting(ticket) else { return nil }
        let record = removeRecord(ticket.entry.slot)
        remove(ticket.entry, record.key, at: record.level)
        return record.waiter
    }

    /// Raises the level of an entry. A lower level has no effect.
    mutating func raise(_ ticket: Ticket, to level: PriorityLevel) {
        guard isWaiting(ticket), records[ticket.entry.slot].level < level else { return }
        let key = records[ticket.entry.slot].key
        remove(ticket.entry, key, at: records[ticket.entry.slot].level)
        records[ticket.entry.slot].level = level
        insert(ticket.entry, key, at: level)
    }

    private mutating func insert(_ entry: ReadyQueue.Entry, _ key: Key?, at level: PriorityLevel) {
        let isFirst = update(key) { line in
            line.line.insert(entry, at: level)
            return line.line.first?.entry == entry
        }
        if isFirst, hasKeys { renewTurn(key) }
    }

    private mutating func remove(_ entry: ReadyQueue.Entry, _ key: Key?, at level: PriorityLevel) {
        let wasFirst = update(key) { line in
            let wasFirst = line.line.first?.entry == entry
            line.line.remove(entry, at: level)
            return wasFirst
        }
        if wasFirst, hasKeys { renewTurn(key) }
    }

    private mutating func removeRecord(_ slot: Int) -> Record {
        let record = records.remove(at: slot)
        if record.isClaim { claimCount -= 1 }
        return record
    }

    /// Whether an entry is still in line.
    func isWaiting(_ ticket: Ticket) -> Bool {
        records.holds(ticket.entry.slot) && records[ticket.entry.slot].entry == ticket.entry
    }
}

// MARK: - Turns

extension LimitState {
    /// Serves the next entry if enough permits are free: the entry receives its permits and leaves the line.
    ///
    /// - Returns: The served waiter; nil if no entry can be served.
    mutating func next() -> Waiter? {
        guard let (slot, key) = first(), permits.admits(records[slot].weight),
            rates == nil || rates!.value.hasTokensInTotal(for: records[slot].cost)
        else { return nil }
        let record = removeRecord(slot)
        permits.take(record.weight)
        note(record.weight, cost: record.cost, takenFor: key, at: record.level)
        update(key) { _ = $0.line.popFirst() }
        if hasKeys { renewTurn(key) }
        return record.waiter
    }

    /// The entry that is served first, and its key; nil if every entry lacks permits or tokens of its key.
    private mutating func first() -> (slot: Int, key: Key?)? {
        if !hasKeys { return keyless.line.first.map { ($0.entry.slot, nil) } }
        while let turn = turns.heap.first {
            if isCurrent(turn) {
                let slot = read(turn.key) { $0.line.first!.entry.slot }
                let (weight, capacity) = (records[slot].weight, capacity(of: turn.key))
                if read(turn.key, { $0.admits(weight, of: capacity) }) {
                    let cost = records[slot].cost
                    guard let key = turn.key, lacksTokens(key, cost: cost) else { return (slot, turn.key) }
                    watch(key, cost: cost)
                }
                endTurn(turn.key)
            }
            turns.heap.removeFirst()
        }
        return nil
    }

    private func isCurrent(_ turn: Turns.Turn) -> Bool {
        if let key = turn.key, !keys.holds(key) { return false }
        return read(turn.key) { $0.turn == turn.number }
    }

    /// Gives a turn to a key that has none and has entries.
    private mutating func giveTurn(_ key: Key?) {
        if read(key, { $0.turn == 0 && !$0.line.isEmpty }) { renewTurn(key) }
    }

    /// Gives a turn at the level of the first entry to a key. If it has no entries, ends its turn.
    private mutating func renewTurn(_ key: Key?) {
        endTurn(key)
        guard let (entry, level) = read(key, { $0.line.first }) else { return }
        turns.lastNumber += 1
        turns.count += 1
        let (number, served) = (turns.lastNumber, turns.served[level])
        let tag = update(key) { line in
            line.turn = number
            return max(line.tags[level], served)
        }
        turns.heap.insert(.init(level: level, tag: tag, arrival: entry.arrival, number: number, key: key))
        if turns.heap.count > 2 * turns.count + 64 {
            turns.heap = Heap(turns.heap.elements.filter { isCurrent($0) })
        }
    }

    private mutating func endTurn(_ key: Key?) {
        let hadTurn = update(key) { line in
            defer { line.turn = 0 }
            return line.turn != 0
        }
        if hadTurn { turns.count -= 1 }
    }
}

// MARK: - Rates

extension LimitState {
    /// Whether there is a rate or a pause, so that the time decides about services.
    var isTimed: Bool { rates?.value.isLimiting ?? false }

    var rate: OperationRate? { rates?.value.rate }

    var ratePerKey: OperationRate? { rates?.value.ratePerKey }

    mutating func setRate(_ rate: OperationRate?) {
        prepareRates()
        rates!.value.setTotal(rate)
    }

    /// Sets the rate for each key. Takes linear time in the number of keys.
    mutating func setRatePerKey(_ rate: OperationRate?) {
        prepareRates()
        rates!.value.setPerKey(rate)
        for key in keys.slots {
            keys.update(key) { $0.alarmTime = nil }
            giveTurn(key)
        }
    }

    private mutating func prepareRates() {
        if rates == nil { rates = Boxed(LimitRates()) }
    }

    /// Whether the rates have the tokens of a cost in total and for a key, and there is no pause.
    mutating func hasTokens(for key: Key?, cost: Int) -> Bool {
        rates == nil || rates!.value.hasTokens(for: key, cost: cost)
    }

    /// Uses more tokens for a start in total and for a key, or fewer, from now on. The caller then serves the line.
    mutating func correct(by difference: Int, for key: Key?) {
        if rates == nil || difference == 0 { return }
        rates!.value.correct(by: difference, for: key)
        if difference < 0, hasKeys { giveTurn(key) }
    }

    /// Allows no start in total, or of a key, for a duration from now on. Does not shorten a pause.
    mutating func pause(for duration: Duration, _ key: Key?) {
        prepareRates()
        rates!.value.pause(for: duration, key)
    }

    /// Whether a pause in total or of a key is not over.
    func isPaused(_ key: Key?) -> Bool { rates?.value.isPaused(key) ?? false }

    /// A text about missing tokens or a pause, which follows the use of the permits. Empty if neither delays a start of a
    /// cost.
    mutating func shortage(for key: Key?, cost: Int) -> String {
        if isPaused(key) { return ", paused" }
        if hasTokens(for: key, cost: cost) { return "" }
        return cost == 1 ? ", without a token of its rate" : ", without \(cost) tokens of its rate"
    }

    private mutating func lacksTokens(_ key: Key, cost: Int) -> Bool {
        rates != nil && !rates!.value.hasTokens(of: key, for: cost)
    }

    private mutating func watch(_ key: Key, cost: Int) {
        let time = rates!.value.watch(key, cost: cost, planned: keys.read(key) { $0.alarmTime })
        keys.update(key) { $0.alarmTime = time }
    }

    /// Reports a reading of the clock. See `SteadyTime.advance(to:mayBeOld:)`.
    mutating func advance(to now: Duration, mayBeOld: Bool = false) {
        // The clock is read before the first rate or pause is set.
        prepareRates()
        rates!.value.advance(to: now, mayBeOld: mayBeOld)
        while let key = rates!.value.nextWatched() {
            if !keys.holds(key) { continue }
            keys.update(key) { $0.alarmTime = nil }
            giveTurn(key)
        }
    }

    /// Reports that the clock is not read in this event.
    mutating func noteOldTime() { rates?.value.noteOldTime() }

    mutating func noteWake(_ wake: QueueTime.Wake) { rates?.value.noteWake(wake) }

    /// Plans to wake the limit when an entry may have its tokens. Returns the wake; nil if no wake is necessary, or if
    /// another one is sufficient.
    mutating func nextWake() -> QueueTime.Wake? {
        if rates == nil { return nil }
        let cost = records.count == 0 ? nil : first().map { records[$0.slot].cost }
        return rates!.value.nextWake(forEntryOf: cost)
    }

    /// Whether tokens of a key are used, or the key is paused. The key must then exist until they are replaced, and the
    /// pause is over.
    func hasBucket(_ key: Key) -> Bool { rates?.value.isInUse(key) ?? false }

    /// Removes and returns the keys whose buckets have become full, and whose pauses are over.
    mutating func takeFullKeys() -> [Key] {
        rates == nil || rates!.value.fullKeys.isEmpty ? [] : rates!.value.takeFullKeys()
    }
}

// MARK: - For tests

extension LimitState {
    /// The number of turns in memory, including turns that are over.
    var turnMemory: Int { turns.heap.count }

    /// The waiters without a key in the order in which they are served. Takes linear time.
    var waitersInOrder: [Waiter] {
        var line = keyless.line
        var waiters: [Waiter] = []
        while let entry = line.popFirst() { waiters.append(records[entry.slot].waiter) }
        return waiters
    }
}

/// The position of an entry in the order of arrival. A claim keeps its arrival when it leaves one line and enters
/// another. Each entry of the claim has its own number, so that the ticket of a removed entry names no later one.
struct LineArrival: Sendable {
    /// The lowest number of this arrival. All numbers of earlier arrivals are lower.
    let first: UInt64
    private(set) var number: UInt64

    /// - Parameter order: A number that is higher for later arrivals.
    init(_ order: Int) {
        first = UInt64(order) << 16
        number = first
    }

    /// Changes the number for the next entry. After 65,536 changes, the numbers repeat.
    mutating func renew() { number = first | (number &+ 1) & 0xffff }
}
