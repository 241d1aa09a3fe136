/// The time for which a worker runs bodies before it yields its thread to other tasks.
///
/// Bodies that do not suspend would otherwise keep a thread of the pool for as long as their queue has work. Reading the
/// clock costs a tenth of an empty operation, so it is read after 1, 2, 4 … and at most 64 bodies while they are short.
///
/// A body that suspends frees the thread anyway, and the worker gets a new slice. Another yield would make 256 bodies at
/// once that sleep for a millisecond half as expensive again.
struct TimeSlice {
    private let worker: ObjectIdentifier
    private let decider: (any SliceDecidingExecutor)?
    private let isEndless: Bool
    private let end = ContinuousClock.now + .milliseconds(1)
    private var stride = 1
    private var untilLook = 1

    /// Begins a slice on the calling thread.
    init(of worker: Worker, decider: (any SliceDecidingExecutor)?, isEndless: Bool = false) {
        self.init(ObjectIdentifier(worker), decider, isEndless: isEndless)
    }

    private init(_ worker: ObjectIdentifier, _ decider: (any SliceDecidingExecutor)?, isEndless: Bool) {
        self.worker = worker
        self.decider = decider
        self.isEndless = isEndless
        LastSlice.setWorker(worker)
    }

    /// Counts a body that was run. Returns whether the time is up.
    @inline(__always)
    mutating func isOver() -> Bool {
        if isEndless { return false }
        if let decider { return decider.isSliceOver() }
        untilLook -= 1
        return untilLook == 0 && isTimeUp()
    }

    @inline(never)
    private mutating func isTimeUp() -> Bool {
        if ContinuousClock.now >= end {
            // A worker that had its thread all the time is the last that began a slice there. One that had not may take
            // itself for that, if it was alone, and yields for nothing.
            if LastSlice.isWorker(worker) { return true }
            self = TimeSlice(worker, decider, isEndless: false)
            return false
        }
        stride = min(stride * 2, 64)
        untilLook = stride
        return false
    }
}
