import Synchronization

// The changes of operations, for listeners: see `ChangeLog`. Only the state records changes.

extension Scheduler {
    /// Adds a listener, which receives the present state first and then each change. Adding a listener again has no
    /// effect.
    package nonisolated func addListener(_ listener: any ChangeListener) {
        withCore { core in join(listener, &core) }
        changeLog.deliver()
    }

    /// Removes a listener. The listener may still be called for earlier changes.
    package nonisolated func removeListener(_ identity: ObjectIdentifier) {
        withCore { core in leave(identity, &core) }
        changeLog.deliver()
    }

    private nonisolated func join(_ listener: any ChangeListener, _ core: inout SchedulerCore) {
        if core.listeners.contains(listener.identity) { return }
        core.listeners.append(listener.identity)
        core.state.setObserved(true)
        isObserved.store(true, ordering: .relaxed)
        let now = Moment.now
        changeLog.join(listener, after: core.state.changes.lastNumber, replaying: core.presentChanges(at: now))
    }

    private nonisolated func leave(_ identity: ObjectIdentifier, _ core: inout SchedulerCore) {
        guard let index = core.listeners.firstIndex(of: identity) else { return }
        core.listeners.remove(at: index)
        if core.listeners.isEmpty {
            core.state.setObserved(false)
            isObserved.store(false, ordering: .relaxed)
            core.startTimes = [:]
        }
        changeLog.leave(identity)
    }

    /// Moves the changes of an event to the log. If the last listener was removed meanwhile, the delivery discards the
    /// changes.
    @inline(never)
    nonisolated func logChanges(_ core: inout SchedulerCore) {
        let now = Moment.now
        changeLog.append { log in
            for index in core.state.changes.changes.indices {
                let change = LoggedChange(core.state.changes.changes[index], at: now)
                core.noteTime(of: change.kind, change.arrival, now)
                log.append(change)
            }
            // This frees no operation, because the log, which is locked, also retains them.
            core.state.removeChanges()
        }
    }

    nonisolated func noteWait(for target: AnyTaskOperation, of operation: AnyTaskOperation) {
        // This check is first, because most queues have no listener.
        if !isObserved.load(ordering: .relaxed) { return }
        withCore { core in
            guard core.state.changes.isObserved, let slot = core.slot(of: operation) else { return }
            core.state.reportWait(slot, for: target)
        }
    }

    nonisolated func waitForAttempt() async {
        guard let clock else { return }
        if let start = withCore({ $0.state.reserveStart() }) { await clock.sleep(until: start) }
    }

    nonisolated func noteAttempt(_ number: Int, of operation: AnyTaskOperation) {
        withCore { core in
            guard core.state.changes.isObserved, let slot = core.slot(of: operation) else { return }
            core.state.report(.attempt(number), slot)
        }
    }
}

extension SchedulerCore {
    @inline(__always)
    fileprivate mutating func noteTime(of kind: ChangeKind, _ arrival: UInt64, _ now: Moment) {
        if !state.changes.isObserved { return }
        switch kind {
        case .started: startTimes[arrival] = now
        case .finished: startTimes[arrival] = nil
        default: break
        }
    }

    /// The changes of the unfinished operations that led to their present state.
    fileprivate func presentChanges(at moment: Moment) -> [LoggedChange] {
        state.presentChanges { $0.isCancelled }.map { change in
            var change = LoggedChange(change, at: moment)
            change.isReplayed = true
            return change
        }
    }
}
