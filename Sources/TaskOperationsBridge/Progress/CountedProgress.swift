internal import Foundation
internal import Synchronization
internal import TaskOperations
internal import TaskOperationsExtras

/// A progress whose counts any thread can set.
///
/// One thread at a time passes the counts to Foundation. It holds no lock, because Foundation calls observers.
class CountedProgress: Progress, @unchecked Sendable {  // `counts` is a lock.
    fileprivate struct Counts: Sendable {
        var total: Int64 = 0
        var completed: Int64 = 0
        var isTotalSet = false
        /// Whether the work is over if the progress is complete.
        var canEnd = true
        /// True after Foundation has learned that the progress is complete, if Foundation must not learn it again.
        var isEndPassed = false
        /// Whether the counts have changed since they were passed to Foundation. If true, the progress is in the line.
        var hasNews = false
    }

    private let counts = Lock(Counts())

    private let line = HandOverLine.forProgress()

    init() {
        super.init(parent: nil, userInfo: nil)
        isCancellable = true
    }

    override var totalUnitCount: Int64 {
        get { currentCounts.total }
        set {
            change { counts in
                counts.total = newValue
                counts.isTotalSet = true
            }
        }
    }

    override var completedUnitCount: Int64 {
        get { currentCounts.completed }
        set { change { $0.completed = newValue } }
    }

    override var isFinished: Bool { currentCounts.isComplete }

    override var isIndeterminate: Bool { currentCounts.total <= 0 }

    /// The counts of the work itself, if it knows them. They may be newer than the last call of `setCounts`.
    var newestCounts: (total: Int64, completed: Int64)? { nil }

    private var currentCounts: Counts {
        let newest = newestCounts
        return counts.withLock { counts in
            var counts = counts
            if let newest { counts.set(total: newest.total, completed: newest.completed, canOvertake: true) }
            return counts
        }
    }

    /// Changes the counts. Keeps a total that was set through `totalUnitCount`.
    ///
    /// - Parameters:
    ///   - canOvertake: Whether calls may arrive out of order. If true, the counts never decrease.
    ///   - canEnd: Whether the work is over if the progress is complete. If false, the progress may change again.
    func setCounts(total: Int64, completed: Int64, canOvertake: Bool, canEnd: Bool) {
        change { counts in
            counts.set(total: total, completed: completed, canOvertake: canOvertake)
            counts.canEnd = canEnd
        }
    }

    private func change(_ change: (inout Counts) -> Void) {
        let isNew = counts.withLock { counts in
            change(&counts)
            defer { counts.hasNews = true }
            return !counts.hasNews
        }
        if isNew { line.handOver(self) }
    }

    /// Passes the counts to Foundation. Only one thread at a time may call this.
    ///
    /// A parent counts a child as a whole when the child is complete. So Foundation must not see a complete progress
    /// before the end, not even between the changes of the two counts.
    fileprivate func handOver() {
        let new = counts.withLock { counts -> (total: Int64, completed: Int64)? in
            counts.hasNews = false
            if counts.isEndPassed || counts.isComplete && !counts.canEnd { return nil }
            counts.isEndPassed = counts.isComplete && Self.isCountedAtEachCompletion
            return (counts.total, counts.isComplete ? counts.total : counts.completed)
        }
        guard let new else { return }
        if new.total >= super.totalUnitCount {
            super.totalUnitCount = new.total
            super.completedUnitCount = new.completed
        } else {
            super.completedUnitCount = new.completed
            super.totalUnitCount = new.total
        }
    }
}

extension CountedProgress.Counts {
    fileprivate var isComplete: Bool { total > 0 && completed >= total }

    fileprivate mutating func set(total: Int64, completed: Int64, canOvertake: Bool) {
        if !isTotalSet { self.total = canOvertake ? max(self.total, total) : total }
        self.completed = canOvertake ? max(self.completed, completed) : completed
    }
}

/// A line of changed progresses. One thread at a time passes their counts to Foundation, in the order of the changes.
final class HandOverLine: Sendable {
    private struct State: Sendable {
        var waiting = Deque<CountedProgress>()
        /// Whether a thread passes counts to Foundation. Before that thread stops, it checks for further progresses.
        var isBusy = false
    }

    private let state = Lock(State())

    func handOver(_ progress: CountedProgress) {
        let isFirst = state.withLock { state in
            state.waiting.append(progress)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFirst else { return }
        while let next = next() { next.handOver() }
    }

    private func next() -> CountedProgress? {
        state.withLock { state in
            let next = state.waiting.popFirst()
            state.isBusy = next != nil
            return next
        }
    }
}
