/// The ready operations of a queue: those that may start, and those that a barrier holds back.
struct AdmissionQueue: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// Those that may start. A barrier is among them when it is its turn.
    private(set) var ready: ReadyQueue
    /// Those that may start once their limits have room.
    private(set) var limited: LimitedOperations
    /// Those behind a barrier, all at one level: only their arrival orders them. Barriers are not among them.
    private(set) var heldBack = ReadyQueue()
    private(set) var barriers = BarrierLine()

    init(order: OperationOrder) {
        ready = ReadyQueue(order: order)
        limited = LimitedOperations(order: order)
    }

    /// An operation has arrived, whether it is ready or not.
    @inline(__always)
    mutating func operationArrived(_ entry: Entry, isBarrier: Bool) {
        if isBarrier {
            barriers.barrierArrived(entry.arrival, slot: entry.slot)
        } else {
            barriers.operationArrived()
        }
    }

    /// An operation is ready, and takes its place.
    @inline(__always)
    mutating func insert(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers.admits(entry.arrival) {
            insertReady(entry, at: level)
        } else if !isBarrier {
            heldBack.insert(entry, at: Self.heldBackLevel)
        }
    }

    @inline(__always)
    private mutating func insertReady(_ entry: Entry, at level: PriorityLevel) {
        if !limited.isEmpty, let set = limited.set(of: entry.slot) {
            limited.insert(entry, at: level, set)
        } else {
            ready.insert(entry, at: level)
        }
    }

    /// An operation is ready no longer, or is about to change.
    mutating func remove(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers.admits(entry.arrival) {
            if !limited.isEmpty, let set = limited.set(of: entry.slot) {
                limited.remove(entry, at: level, set)
            } else {
                ready.remove(entry, at: level)
            }
        } else if !isBarrier {
            heldBack.remove(entry, at: Self.heldBackLevel)
        }
    }

    /// Takes the first operation that may start, if it fits.
    @inline(__always)
    mutating func popFirst(fitting isFitting: (_ slot: Int) -> Bool) -> Entry? {
        ready.popFirst(fitting: isFitting)
    }

    /// The first operation of a level that may start, or may be asked to, and its limits.
    func first(of level: PriorityLevel) -> (slot: Int, set: Int?)? {
        let plain = ready.first(of: level)
        guard !limited.isEmpty, let (entry, set) = limited.first(of: level) else { return plain.map { ($0.slot, nil) } }
        if let plain, ready.order.comes(plain, before: entry) { return (plain.slot, nil) }
        return (entry.slot, set)
    }

    /// Takes what `first(of:)` says.
    mutating func popFirst(of level: PriorityLevel, _ set: Int?) {
        if let set { limited.popFirst(of: level, set) } else { ready.popFirst(of: level) }
    }

    /// How many operations may start, or may be asked to.
    var openCount: Int { ready.count + (limited.isEmpty ? 0 : limited.openCount) }

    /// Changes how limited operations stand.
    mutating func changeLimited<Result>(_ change: (inout LimitedOperations) -> Result) -> Result { change(&limited) }

    /// An operation has ended, and there is no barrier.
    @inline(__always)
    mutating func operationEnded(_ arrival: UInt64) { barriers.operationEnded(arrival) }

    /// An operation has ended. If it was the first barrier, what that alone held back may start; if it is a barrier's turn
    /// now, that may.
    ///
    /// - Parameter readyLevel: The level of an operation if it is ready.
    mutating func operationEnded(
        _ arrival: UInt64, isBarrier: Bool, readyLevel: (_ slot: Int) -> PriorityLevel?
    ) {
        let (first, open) = (barriers.first?.slot, barriers.open?.slot)
        if isBarrier { barriers.barrierEnded(arrival) } else { barriers.operationEnded(arrival) }
        if first != barriers.first?.slot { releaseHeldBack(readyLevel) }
        if let opened = barriers.open, opened.slot != open, let level = readyLevel(opened.slot) {
            insertReady(Entry(arrival: opened.arrival, slot: opened.slot), at: level)
        }
    }

    private mutating func releaseHeldBack(_ readyLevel: (_ slot: Int) -> PriorityLevel?) {
        while let (entry, _) = heldBack.first, barriers.admits(entry.arrival) {
            _ = heldBack.popFirst { _ in true }
            if let level = readyLevel(entry.slot) { insertReady(entry, at: level) }
        }
    }

    private static var heldBackLevel: PriorityLevel { .medium }
}
