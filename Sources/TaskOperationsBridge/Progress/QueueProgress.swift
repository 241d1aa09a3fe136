public import Foundation
public import TaskOperations
internal import TaskOperationsExtras

extension TaskOperationQueue {
    /// The number of operations ever added to the queue, and the number of these that have ended, with any outcome.
    /// Always the same object.
    ///
    /// Cancelling it cancels all operations of the queue that are not finished. It can be the child of another
    /// progress. The total grows with each operation that is added, so the progress may seem finished before the last
    /// operation is added. If you know the number, set `totalUnitCount`, which then no longer changes automatically.
    ///
    /// The progress may lag behind the queue: waiters for an operation or for all may continue before it is counted.
    ///
    /// Its counts, `isFinished` and `isIndeterminate` can be read from any thread, and several progresses of this library
    /// can have a parent in common. Foundation without the Objective-C runtime guards nothing else: while operations are
    /// added or end, no other thread may read `fractionCompleted`, of this progress or of a parent, nor change a parent.
    /// Otherwise Foundation may stop the process. Divide the counts instead.
    public var progress: Progress {
        observer { QueueProgress(of: self) }
    }
}

/// Counts the operations of a queue.
final class QueueProgress: CountedProgress, OperationCountObserver, @unchecked Sendable {  // `queue` is constant.
    private weak let queue: TaskOperationQueue?

    init(of queue: TaskOperationQueue) {
        self.queue = queue
        super.init()
    }

    override func cancel() {
        super.cancel()
        queue?.cancelAllOperations()
    }

    func countsChanged(added: Int, unfinished: Int) {
        setCounts(total: Int64(added), completed: Int64(added - unfinished), canOvertake: true)
    }
}
