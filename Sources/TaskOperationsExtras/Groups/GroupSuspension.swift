import Synchronization
import TaskOperations

/// Suspends the inner queue of a group. The inner queue is suspended while the group or its outer queue is suspended.
final class GroupSuspension: Sendable {
    private let outer: Scheduler
    private let inner: Scheduler
    private let isSuspendedItself: Lock<Bool>

    /// - Parameter inner: The inner queue of a new group. If it is suspended, the group is suspended.
    init(of inner: Scheduler, in outer: Scheduler) {
        self.inner = inner
        self.outer = outer
        isSuspendedItself = Lock(inner.isSuspended)
    }

    func setSuspended(_ isSuspended: Bool) {
        isSuspendedItself.withLock { $0 = isSuspended }
        update()
    }

    private var mustBeSuspended: Bool { isSuspendedItself.withLock { $0 } || outer.isSuspended }

    /// Updates the suspension of the inner queue. Another thread may set an outdated state at the same time. So this
    /// method reads the state again after each change.
    private func update() {
        var isSuspended: Bool
        repeat {
            isSuspended = mustBeSuspended
            inner.isSuspended = isSuspended
        } while isSuspended != mustBeSuspended
    }
}

// MARK: - Following the outer queue

extension GroupSuspension {
    /// Makes the inner queue follow the suspension of the outer queue until `end` is called.
    func begin() {
        inner.followSuspension(of: outer) { self.update() }
        update()
    }

    func end() { inner.stopFollowingSuspension() }
}
