import Synchronization

// What happens to operations, for listeners: see `ChangeLog`. Changes are told by the state alone.

extension Scheduler {
    /// Has a listener learn of all that happens from now on, and first of how everything stands. A second time nothing
    /// happens.
    nonisolated func addListener(_ listener: any ChangeListener) {
        apply(listener) { scheduler, listener in scheduler.join(listener) }
        changeLog.deliver()
    }

    /// Has a listener learn of nothing that happens from now on. It may be called for what happened before.
    nonisolated func removeListener(_ identity: ObjectIdentifier) {
        // What is on its way into the queue has happened before.
        apply { _ in }
        apply(identity) { scheduler, identity in scheduler.leave(identity) }
        changeLog.deliver()
    }

    private func join(_ listener: any ChangeListener) {
        if listeners.contains(listener.identity) { return }
        listeners.append(listener.identity)
        state.setObserved(true)
        isObserved.store(true, ordering: .relaxed)
        let now = Moment.now
        changeLog.join(listener, after: state.changes.lastNumber, replaying: presentChanges(at: now))
    }

    private func leave(_ identity: ObjectIdentifier) {
        guard let index = listeners.firstIndex(of: identity) else { return }
        listeners.remove(at: index)
        if listeners.isEmpty {
            state.setObserved(false)
            isObserved.store(false, ordering: .relaxed)
            startTimes = [:]
        }
        changeLog.leave(identity)
    }

    /// Moves what the state has told to the log, on leaving. Perhaps nobody listens any more: then it goes with the delivery.
    @inline(never)
    func logChanges() {
        let now = Moment.now
        changeLog.append { log in
            for index in state.changes.changes.indices {
                let change = LoggedChange(state.changes.changes[index], at: now)
                noteTime(of: change.kind, change.arrival, now)
                log.append(change)
            }
            // Nothing is freed by that: the log has it too, and is locked.
            state.removeChanges()
        }
    }

    @inline(__always)
    private func noteTime(of kind: ChangeKind, _ arrival: UInt64, _ now: Moment) {
        if !state.changes.isObserved { return }
        switch kind {
        case .started: startTimes[arrival] = now
        case .finished: startTimes[arrival] = nil
        default: break
        }
    }

    /// What would have been told of the operations that have not ended, had anyone listened before.
    private func presentChanges(at moment: Moment) -> [LoggedChange] {
        state.presentChanges { $0.isCancelled }.map { change in
            var change = LoggedChange(change, at: moment)
            change.isReplayed = true
            return change
        }
    }

    nonisolated func noteWait(for target: AnyTaskOperation, of operation: AnyTaskOperation) {
        // Looked at first, as nobody observes most queues.
        if !isObserved.load(ordering: .relaxed) { return }
        apply((target, operation)) { scheduler, input in
            guard scheduler.state.changes.isObserved, let slot = scheduler.slot(of: input.1) else { return }
            scheduler.state.tellWait(slot, for: input.0)
        }
    }

    nonisolated func waitForAttempt() async {
        guard let clock else { return }
        if let start = apply({ $0.state.reserveStart() }) { await clock.sleep(until: start) }
    }

    nonisolated func noteAttempt(_ number: Int, of operation: AnyTaskOperation) {
        apply((number, operation)) { scheduler, input in
            guard scheduler.state.changes.isObserved, let slot = scheduler.slot(of: input.1) else { return }
            scheduler.state.tell(.attempt(input.0), slot)
        }
    }
}
