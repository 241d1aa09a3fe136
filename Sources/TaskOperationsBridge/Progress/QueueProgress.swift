public import Foundation
public import TaskOperations
internal import TaskOperationsExtras

extension TaskOperationQueue {
    /// The progress of all operations that were ever added to the queue. `completedUnitCount` is the number of ended
    /// operations, with any outcome. The property always returns the same object.
    ///
    /// Cancelling the progress cancels all unfinished operations of the queue. The progress can be the child of another
    /// progress.
    ///
    /// The total increases with each added operation. So the progress may seem finished before the last operation is
    /// added. A parent counts the progress as a whole at the first time, and ignores later operations. If you know the
    /// final number, set `totalUnitCount`. Afterwards it does not change automatically.
    ///
    /// The counts include each operation that has ended. The observers and the parent of the progress may learn of an
    /// end later.
    ///
    /// Any thread can read the counts, `isFinished` and `isIndeterminate`. Several progresses of this library can have
    /// the same parent.
    ///
    /// Foundation without the Objective-C runtime is not safe for other accesses while operations are added or end.
    /// Other threads must not read `fractionCompleted` of this progress or a parent, and must not change a parent.
    /// Otherwise Foundation may stop the process. There, `fractionCompleted` also stays 1 after the first time at which
    /// the progress was finished. Divide the counts instead of reading `fractionCompleted`.
    public var progress: Progress {
        observer { QueueProgress(of: self) }
    }
}

final class QueueProgress: CountedProgress, OperationCountObserver, @unchecked Sendable {  // `queue` is constant.
    private weak let queue: TaskOperationQueue?

    init(of queue: TaskOperationQueue) {
        self.queue = queue
        super.init()
    }

    override var newestCounts: (total: Int64, completed: Int64)? {
        guard let counts = queue?.scheduler.counts else { return nil }
        return (Int64(counts.added), Int64(counts.added - counts.unfinished))
    }

    override func cancel() {
        super.cancel()
        queue?.cancelAllOperations()
    }

    func countsChanged(added: Int, unfinished: Int) {
        setCounts(total: Int64(added), completed: Int64(added - unfinished), canOvertake: true, canEnd: true)
    }
}
