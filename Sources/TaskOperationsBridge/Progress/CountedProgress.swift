internal import Foundation
@_spi(Lock) internal import TaskOperations

/// A progress whose counts come from any thread.
///
/// They are handed to Foundation by one thread at a time, with no lock held, since that calls whoever watches.
class CountedProgress: Progress, @unchecked Sendable {  // `counts` is a lock.
    private struct Counts: Sendable {
        var total: Int64 = 0
        var completed: Int64 = 0
        var isTotalSet = false
        /// Some thread hands counts over, and looks for newer ones before it leaves.
        var isHandingOver = false
        var hasNews = false
    }

    private let counts = Lock(Counts())

    init() {
        super.init(parent: nil, userInfo: nil)
        isCancellable = true
    }

    override var totalUnitCount: Int64 {
        get { counts.withLock { $0.total } }
        set {
            counts.withLock { counts in
                counts.total = newValue
                counts.isTotalSet = true
            }
            super.totalUnitCount = newValue
        }
    }

    override var completedUnitCount: Int64 {
        get { counts.withLock { $0.completed } }
        set {
            counts.withLock { $0.completed = newValue }
            super.completedUnitCount = newValue
        }
    }

    override var isFinished: Bool { counts.withLock { $0.completed >= $0.total && $0.total > 0 } }

    override var isIndeterminate: Bool { counts.withLock { $0.total <= 0 } }

    /// The counts are others now. A total that was set stays.
    ///
    /// - Parameter canOvertake: Whether calls come from several threads, so that the largest numbers count.
    func setCounts(total: Int64, completed: Int64, canOvertake: Bool) {
        let mustHandOver = counts.withLock { counts in
            if !counts.isTotalSet { counts.total = canOvertake ? max(counts.total, total) : total }
            counts.completed = canOvertake ? max(counts.completed, completed) : completed
            counts.hasNews = true
            defer { counts.isHandingOver = true }
            return !counts.isHandingOver
        }
        if mustHandOver { handOver() }
    }

    private func handOver() {
        while let (total, completed) = takeNews() {
            super.totalUnitCount = total
            super.completedUnitCount = completed
        }
    }

    /// Nil if there are none, and somebody else is to hand over what comes next.
    private func takeNews() -> (total: Int64, completed: Int64)? {
        counts.withLock { counts in
            if counts.hasNews {
                counts.hasNews = false
                return (counts.total, counts.completed)
            }
            counts.isHandingOver = false
            return nil
        }
    }
}
