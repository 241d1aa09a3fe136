// Members that other modules of the package use to build their own policies.

extension Scheduler {
    /// The executor of bodies from the configuration.
    package nonisolated var bodyExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { executor } else { nil }
    }

    /// The number of added operations, and the number of unfinished operations.
    package nonisolated var counts: ChangeCounts { withCore { $0.state.counts } }

    /// Returns the queue's listener that counts operations for all observers. The queue retains this listener.
    ///
    /// - Parameter new: The listener to set if the queue has no such listener.
    package nonisolated func countListener(orSet new: any ChangeListener) -> any ChangeListener {
        withCore { core in
            if core.countListener == nil { core.countListener = new }
            return core.countListener!
        }
    }
}

extension AnyTaskOperation {
    /// The scheduler of the operation; nil if the operation was not added, or has finished.
    package var scheduler: Scheduler? { record.withLock { $0.host } }
}
