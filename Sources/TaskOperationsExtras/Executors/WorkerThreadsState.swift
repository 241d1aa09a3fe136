/// The state of a set of threads. It decides which work is next, and when threads start and end.
///
/// Work is submitted to lanes. Each lane is first in, first out, and occupies a limited number of threads. Lanes with
/// work take turns. Every call takes amortised constant time.
struct WorkerThreadsState<Work: Sendable>: Sendable {
    /// The next step of a thread.
    enum Next: Sendable {
        case work(Work, lane: Int)
        /// The thread ends, and calls these functions.
        case end([Work])
    }

    private struct Lane: Sendable {
        let maxCount: Int
        var line = Deque<Work>()
        var running = 0
        /// Whether `turns` contains the lane.
        var hasTurn = false
        /// Whether the lane no longer accepts work.
        var isReleased = false

        /// The number of work items that the lane may begin now.
        var startable: Int { min(line.count, maxCount - running) }
    }

    let maxCount: Int
    private var lanes: [Int: Lane] = [:]
    private var lastLane = 0
    /// The lanes with work that may begin, in the order of their turns.
    private var turns = Deque<Int>()
    /// The number of work items that all lanes together may begin now.
    private(set) var startable = 0
    /// The number of threads that exist or are about to be started.
    private(set) var existing = 0
    private(set) var idle = 0
    private(set) var isClosed = false
    private var whenEnded: [Work] = []

    init(maxCount: Int) {
        self.maxCount = maxCount
    }

    /// Whether the set is closed, and all work is done.
    var hasEnded: Bool { isClosed && existing == 0 && startable == 0 }

    /// Whether a thread must be started. There is work that may begin, and too few threads are idle.
    var needsThread: Bool { startable > idle && existing < maxCount }

    mutating func makeLane(maxCount: Int) -> Int {
        lastLane += 1
        lanes[lastLane] = Lane(maxCount: maxCount)
        return lastLane
    }

    /// Closes a lane. The lane is removed when its work is done.
    mutating func releaseLane(_ lane: Int) {
        lanes[lane]!.isReleased = true
        removeIfDone(lane)
    }

    /// Appends work to a lane. The caller must check that the set has not ended.
    mutating func submit(_ work: Work, to lane: Int) {
        change(lane) { $0.line.append(work) }
    }

    /// If a thread is missing, counts a new thread and returns true. The caller must then start the thread.
    mutating func beginThread() -> Bool {
        guard needsThread else { return false }
        existing += 1
        return true
    }

    /// Records that the system refused to start a thread.
    mutating func threadFailed() {
        existing -= 1
    }

    /// Records that a thread has finished its work.
    mutating func workEnded(in lane: Int) {
        change(lane) { $0.running -= 1 }
        removeIfDone(lane)
    }

    /// Returns the next step of a thread; nil if the thread must wait.
    ///
    /// - Parameters:
    ///   - wasIdle: Whether the thread has waited.
    ///   - isLate: Whether the thread has waited for the whole idle time.
    mutating func next(wasIdle: Bool, isLate: Bool) -> Next? {
        if wasIdle { idle -= 1 }
        if let lane = turns.popFirst() {
            lanes[lane]!.hasTurn = false
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

    /// Closes the set. If all threads have ended, returns the functions that the caller must call now.
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
        startable -= lanes[lane]!.startable
        defer {
            startable += lanes[lane]!.startable
            if lanes[lane]!.startable > 0, !lanes[lane]!.hasTurn {
                lanes[lane]!.hasTurn = true
                turns.append(lane)
            }
        }
        return change(&lanes[lane]!)
    }

    private mutating func removeIfDone(_ lane: Int) {
        if let present = lanes[lane], present.isReleased, present.running == 0, present.line.isEmpty {
            lanes[lane] = nil
        }
    }
}
