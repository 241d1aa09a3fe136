@_spi(Lock) import TaskOperations

/// Suspends the queue within a group while the group, or the queue of the group, is suspended.
final class GroupSuspension: Sendable {
    private let outer: Scheduler
    private let inner: Scheduler
    private let isSuspendedItself = Lock(false)

    init(of inner: Scheduler, in outer: Scheduler) {
        self.inner = inner
        self.outer = outer
    }

    func setSuspended(_ isSuspended: Bool) {
        isSuspendedItself.withLock { $0 = isSuspended }
        update()
    }

    private var mustBeSuspended: Bool { isSuspendedItself.withLock { $0 } || outer.isSuspended }

    /// Updates the suspension of the inner queue. Other threads may call this at the same time with other results, so
    /// the state is read again after the last change.
    private func update() {
        var isSuspended: Bool
        repeat {
            isSuspended = mustBeSuspended
            inner.isSuspended = isSuspended
        } while isSuspended != mustBeSuspended
    }
}

// MARK: - Following the outer queue

extension GroupSuspension: SuspensionFollower {
    /// Makes the inner queue follow the suspension of the outer one until `end`.
    func begin() {
        outer.addFollower(self)
        update()
    }

    func end() {
        outer.removeFollower(self)
    }

    func suspensionChanged() { update() }
}
