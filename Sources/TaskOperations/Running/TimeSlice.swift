/// How long a worker may go on before it lets other tasks have its thread.
///
/// Bodies that do not suspend would otherwise keep a thread of the pool for as long as their queue has work. The
/// clock costs as much as a tenth of an empty operation, so it is read after 1, 2, 4 … and at most 64 bodies, as
/// long as they turn out to be short.
struct TimeSlice {
    private let end = ContinuousClock.now + .milliseconds(1)
    private var stride = 1
    private var untilLook = 1
    private let decider: (any SliceDecidingExecutor)?

    init(decider: (any SliceDecidingExecutor)? = nil) {
        self.decider = decider
    }

    /// Counts a body that was run. Returns whether the time is up.
    mutating func isOver() -> Bool {
        if let decider { return decider.isSliceOver() }
        untilLook -= 1
        if untilLook > 0 { return false }
        if ContinuousClock.now >= end { return true }
        stride = min(stride * 2, 64)
        untilLook = stride
        return false
    }
}
