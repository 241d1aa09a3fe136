/// Every decision of a set of threads, as a pure value: which work begins next, when a thread is started, when one ends.
///
/// Work comes in lanes. Each lane is first in, first out, and occupies a limited number of threads; lanes that have
/// work take turns. Every call is constant time, amortized.
struct WorkerThreadsState<Work: Sendable>: Sendable {
    /// What a thread does next.
    enum Next: Sendable {
        case work(Work, lane: Int)
        /// It ends, and calls these.
        case end([Work])
    }

    private struct Lane: Sendable {
        let maxCount: Int
        var line = WorkLine<Work>()
        var running = 0
        /// Whether the lane stands in `turns`.
        var hasTurn = false
        /// Whether nobody can submit to it any more.
        var isReleased = false

        /// How many pieces of its work may begin.
        var startable: Int { min(line.count, maxCount - running) }
    }

    let maxCount: Int
    private var lanes = SlotMap<Lane>()
    /// The lanes with work that may begin, in the order of their turns.
    private var turns = WorkLine<Int>()
    /// The sum over all lanes.
    private(set) var startable = 0
    /// Threads that exist, or are about to.
    private(set) var existing = 0
    private(set) var idle = 0
    private(set) var isClosed = false
    private var whenEnded: [Work] = []

    init(maxCount: Int) {
        self.maxCount = maxCount
    }

    /// Whether the set is closed, and all work is done.
    var hasEnded: Bool { isClosed && existing == 0 && startable == 0 }

    /// Whether a thread is missing: there is work that may begin, and no idle thread for it.
    var needsThread: Bool { startable > idle && existing < maxCount }

    mutating func makeLane(maxCount: Int) -> Int { lanes.insert(Lane(maxCount: maxCount)) }

    /// Nobody submits to the lane any more. It goes once its work is done.
    mutating func releaseLane(_ lane: Int) {
        lanes[lane].isReleased = true
        removeIfDone(lane)
    }

    /// Puts work at the end of a lane. To be asked only if the set has not ended.
    mutating func submit(_ work: Work, to lane: Int) {
        change(lane) { $0.line.append(work) }
    }

    /// A thread is about to be started, if one is missing.
    mutating func beginThread() -> Bool {
        guard needsThread else { return false }
        existing += 1
        return true
    }

    /// The system refused a thread.
    mutating func threadFailed() {
        existing -= 1
    }

    /// A thread has done what it began.
    mutating func workEnded(in lane: Int) {
        change(lane) { $0.running -= 1 }
        removeIfDone(lane)
    }

    /// What a thread does next; nil if it is to wait.
    ///
    /// - Parameters:
    ///   - wasIdle: Whether it has waited.
    ///   - isLate: Whether it has waited for as long as it may.
    mutating func next(wasIdle: Bool, isLate: Bool) -> Next? {
        if wasIdle { idle -= 1 }
        if let lane = turns.popFirst() {
            lanes[lane].hasTurn = false
            let work = change(lane) { lane in
                lane.running += 1
                return lane.line.popFirst()!
            }
            return .work(work, lane: lane)
        }
        if isClosed || isLate {
            existing -= 1
            return .end(hasEnded ? takeEndHandlers() : [])
        }
        idle += 1
        return nil
    }

    /// Nothing more comes. Returns what is to be called now, because all has ended.
    mutating func close(ended: Work?) -> [Work] {
        isClosed = true
        if let ended { whenEnded.append(ended) }
        return hasEnded ? takeEndHandlers() : []
    }

    private mutating func takeEndHandlers() -> [Work] {
        defer { whenEnded = [] }
        return whenEnded
    }

    @discardableResult
    private mutating func change<Result>(_ lane: Int, _ change: (inout Lane) -> Result) -> Result {
        startable -= lanes[lane].startable
        defer {
            startable += lanes[lane].startable
            if lanes[lane].startable > 0, !lanes[lane].hasTurn {
                lanes[lane].hasTurn = true
                turns.append(lane)
            }
        }
        return change(&lanes[lane])
    }

    private mutating func removeIfDone(_ lane: Int) {
        if lanes[lane].isReleased, lanes[lane].running == 0, lanes[lane].line.isEmpty { lanes.remove(at: lane) }
    }
}
