// The members with which other modules of the package build policies of their own.

extension Scheduler {
    /// The executor of bodies that the configuration contains.
    package nonisolated var bodyExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { executor } else { nil }
    }

    /// The numbers of operations that were added, and of those that have not ended.
    package nonisolated var counts: ChangeCounts { withCore { $0.state.counts } }

    /// Returns the listener that counts operations for all its observers. The queue keeps it.
    ///
    /// - Parameter new: The listener to set if there is none.
    package nonisolated func countListener(orSet new: any ChangeListener) -> any ChangeListener {
        withCore { core in
            if core.countListener == nil { core.countListener = new }
            return core.countListener!
        }
    }
}

extension AnyTaskOperation {
    /// The scheduler of the operation; nil if nothing runs it.
    package var scheduler: Scheduler? { record.withLock { $0.host } }
}
