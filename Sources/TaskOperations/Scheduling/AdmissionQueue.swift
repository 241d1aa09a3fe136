/// The ready operations of a queue: those that may start, and those that a barrier holds back.
struct AdmissionQueue: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// Those that may start. A barrier is among them when it is its turn. One that has limits may have to be parked then.
    private(set) var ready: ReadyQueue
    /// Those that have limits, and which of them are parked.
    private(set) var limited: LimitedOperations
    /// Those behind a barrier, all at one level: only their arrival orders them. Barriers are not among them.
    private(set) var heldBack = ReadyQueue()
    private(set) var barriers = BarrierLine()
    private let hasAgeing: Bool

    init(order: OperationOrder, hasAgeing: Bool) {
        self.hasAgeing = hasAgeing
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
        if !limited.isEmpty, let set = limited.set(of: entry.slot), !limited.mayTry(set, at: level) {
            limited.park(entry, at: level)
        } else {
            ready.insert(entry, at: level)
        }
    }

    /// An operation is ready no longer, or is about to change.
    mutating func remove(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers.admits(entry.arrival) {
            removeReady(entry, at: level)
        } else if !isBarrier {
            heldBack.remove(entry, at: Self.heldBackLevel)
        }
    }

    private mutating func removeReady(_ entry: Entry, at level: PriorityLevel) {
        guard !limited.isEmpty, let set = limited.set(of: entry.slot) else { return ready.remove(entry, at: level) }
        if limited.isParked(entry.slot) { limited.unpark(entry, at: level) } else { ready.remove(entry, at: level) }
        unparkFirst(of: set)
    }

    /// Takes the first operation that may start, if it fits.
    @inline(__always)
    mutating func popFirst(fitting isFitting: (_ slot: Int) -> Bool) -> Entry? {
        ready.popFirst(fitting: isFitting)
    }

    /// The first operation of a level that may start, and the set of its limits.
    func first(of level: PriorityLevel) -> (slot: Int, set: Int?)? {
        ready.first(of: level).map { ($0.slot, limited.isEmpty ? nil : limited.set(of: $0.slot)) }
    }

    /// Takes the first operation of a level. If it has limits, they are taken.
    mutating func popFirst(of level: PriorityLevel, _ set: Int?) {
        ready.popFirst(of: level)
        guard let set else { return }
        limited.noteTaken(set)
        unparkFirst(of: set)
    }

    /// Parks the first operation of a level.
    mutating func parkFirst(of level: PriorityLevel) {
        let entry = ready.first(of: level)!
        ready.popFirst(of: level)
        limited.park(entry, at: level)
    }

    /// Changes the availability of limits. If they may be free now, the first operation that waits for them may start.
    mutating func changeLimits(of set: Int, _ change: (inout LimitedOperations) -> Void) {
        change(&limited)
        unparkFirst(of: set)
    }

    /// Unparks the first operation of a set. With ageing, the first one of each level: any of them may be the next to start.
    private mutating func unparkFirst(of set: Int) {
        if hasAgeing {
            for level in PriorityLevel.allCases { unparkFirst(of: set, at: level) }
        } else if let level = limited.highestLevel(of: set) {
            unparkFirst(of: set, at: level)
        }
    }

    private mutating func unparkFirst(of set: Int, at level: PriorityLevel) {
        if let entry = limited.unparkFirst(of: set, at: level) { ready.insert(entry, at: level) }
    }

    /// Changes limited operations, none of which is parked or unparked by that.
    mutating func changeLimited<Result>(_ change: (inout LimitedOperations) -> Result) -> Result { change(&limited) }

    /// An operation has ended, and there is no barrier.
    @inline(__always)
    mutating func operationEnded(_ arrival: UInt64) { barriers.operationEnded(arrival) }

    /// An operation has ended. If it was the first barrier, the operations that only this barrier held back may start. If the
    /// next barrier waits for no other operation, it may start.
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
