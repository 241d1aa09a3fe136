import Synchronization

/// Has the queue within a group suspended while the group or the queue that this is on is.
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

    /// Others may do so at the same time, and find something else: whatever is set last is looked at again.
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
    /// The groups that run, by the schedulers that they are on.
    private static let running = Lock<[ObjectIdentifier: [GroupSuspension]]>([:])
    private static let runningCount = Atomic(0)

    /// Has the inner queue follow the outer one until `end`.
    func begin() {
        Self.runningCount.add(1, ordering: .sequentiallyConsistent)
        Self.running.withLock { $0[ObjectIdentifier(outer), default: []].append(self) }
        update()
    }

    func end() {
        Self.running.withLock { running in
            running[ObjectIdentifier(outer)]?.removeAll { $0 === self }
            if running[ObjectIdentifier(outer)]?.isEmpty == true { running[ObjectIdentifier(outer)] = nil }
        }
        Self.runningCount.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// A queue was suspended or resumed, or can no longer be suspended: so it is for the groups that run on it.
    static func changed(_ outer: Scheduler) {
        if runningCount.load(ordering: .sequentiallyConsistent) == 0 { return }
        let groups = running.withLock { $0[ObjectIdentifier(outer)] ?? [] }
        for group in groups { group.update() }
    }
}
