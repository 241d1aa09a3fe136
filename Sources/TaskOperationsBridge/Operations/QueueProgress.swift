public import Foundation
public import TaskOperations

extension TaskOperationQueue {
    /// How many operations were ever added to the queue, and how many of these have ended, in whatever way. Always the
    /// same object.
    ///
    /// Cancelling it cancels all operations of the queue that are not finished. It can be the child of another progress.
    /// As the total grows with each operation that is added, it may seem finished before the last one is added: where
    /// the number is known, set `totalUnitCount`, which then no longer changes by itself.
    ///
    /// Its counts, `isFinished` and `isIndeterminate` can be read from any thread. `fractionCompleted` cannot without the
    /// Objective-C runtime, neither its own nor a parent's, while operations are added or end: Foundation does not
    /// guard it, may stop the process, and lets nobody override it. Divide the counts, or read it when the queue is empty.
    public var progress: Progress {
        observer { QueueProgress(of: self) } as! QueueProgress
    }
}

/// Counts the operations of a queue.
///
/// The counts come from any thread and may overtake each other. They are handed to Foundation by one thread at a time,
/// with no lock held, since that calls whoever watches.
final class QueueProgress: Progress, OperationCountObserver, @unchecked Sendable {  // `counts` is a lock.
    private struct Counts: Sendable {
        var total: Int64 = 0
        var completed: Int64 = 0
        var isTotalSet = false
        /// Some thread hands counts over, and looks for newer ones before it leaves.
        var isHandingOver = false
        var hasNews = false
    }

    private let counts = Lock(Counts())
    private weak let queue: TaskOperationQueue?

    init(of queue: TaskOperationQueue) {
        self.queue = queue
        super.init(parent: nil, userInfo: nil)
        isCancellable = true
    }

    override func cancel() {
        super.cancel()
        queue?.cancelAllOperations()
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

    func countsChanged(added: Int, unfinished: Int) {
        let mustHandOver = counts.withLock { counts in
            if !counts.isTotalSet { counts.total = max(counts.total, Int64(added)) }
            counts.completed = max(counts.completed, Int64(added - unfinished))
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

    /// Nil where there are none, and somebody else is to hand over what comes next.
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
