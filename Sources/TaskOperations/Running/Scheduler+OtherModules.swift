// Members that other modules of the package use to build their own policies.

import Synchronization

extension Scheduler {
    /// The executor of bodies from the configuration.
    package nonisolated var bodyExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { executor } else { nil }
    }

    /// The number of added operations, and the number of unfinished operations.
    package nonisolated var counts: ChangeCounts { withCore { $0.state.counts } }

    /// Returns the observer that counts the queue's operations. The queue retains this observer.
    ///
    /// - Parameter new: The observer to set if the queue has no such observer.
    package nonisolated func countObserver(orSet new: any TaskOperationObserver) -> any TaskOperationObserver {
        withCore { core in
            core.makeObservation(of: identity)
            let observer = core.observation!.value.countObserver ?? new
            core.observation!.value.countObserver = observer
            return observer
        }
    }
}

extension AnyTaskOperation {
    /// The scheduler of the operation; nil if the operation was not added, or has finished.
    package var scheduler: Scheduler? { record.withLock { $0.host } }
}
