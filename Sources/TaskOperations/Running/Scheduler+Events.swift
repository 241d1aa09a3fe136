import Synchronization

// The events of operations, for observers: see `EventLog`. Only the state numbers them.

extension Scheduler {
    /// Adds an observer, which receives the present state first and then each event. Adding an observer again has no
    /// effect.
    package nonisolated func addObserver(_ observer: any TaskOperationObserver) {
        withCore { core in
            if core.observers.contains(observer.identity) { return }
            core.observers.append(observer.identity)
            core.state.setObserved(true)
            isObserved.store(true, ordering: .relaxed)
            let (now, label) = (Moment.now, QueueLabel(identity))
            let present = core.state.presentChanges { $0.isCancelled }
            eventLog.add(
                observer, after: core.state.changes.lastNumber,
                replaying: present.map { TaskOperationEvent($0, at: now, in: label, isReplayed: true) })
        }
        eventLog.deliver()
    }

    /// Removes an observer. The observer may still be called for earlier events.
    package nonisolated func removeObserver(_ observer: any TaskOperationObserver) {
        withCore { core in
            guard let index = core.observers.firstIndex(of: observer.identity) else { return }
            core.observers.remove(at: index)
            if core.observers.isEmpty {
                core.state.setObserved(false)
                isObserved.store(false, ordering: .relaxed)
                core.startTimes = [:]
            }
            eventLog.remove(observer.identity)
        }
        eventLog.deliver()
    }

    /// Moves the recorded changes to the log. If the last observer was removed meanwhile, the log discards the changes.
    @inline(never)
    nonisolated func logChanges(_ core: inout SchedulerCore) {
        let (now, label) = (Moment.now, QueueLabel(identity))
        eventLog.append { log in
            for change in core.state.changes.changes {
                core.noteTime(of: change.kind, change.arrival, now)
                log.append(TaskOperationEvent(change, at: now, in: label, isReplayed: false))
            }
            // This frees no operation, because the log, which is locked, also retains them.
            core.state.removeChanges()
        }
    }

    /// Reports a change of a body.
    ///
    /// - Parameter other: The second operation of the change; nil if the change concerns one operation.
    nonisolated func report(_ kind: ChangeKind, of operation: AnyTaskOperation, with other: AnyTaskOperation? = nil) {
        // This check is first, because most queues have no observer.
        if !isObserved.load(ordering: .relaxed) { return }
        withCore { core in
            guard core.state.changes.isObserved, let slot = core.slot(of: operation) else { return }
            core.state.report(kind, slot, other: other)
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
}
