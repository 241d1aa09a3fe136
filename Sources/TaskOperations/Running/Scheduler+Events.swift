import Synchronization

// The events of operations, for observers: see `EventLog`. Only the state numbers them.

/// The observers of a queue, and the state that only observers need.
struct QueueObservation: Sendable {
    /// Delivers the events of operations to the observers.
    let log: EventLog
    /// The observers, by identity.
    fileprivate var observers: [ObjectIdentifier] = []
    /// The observer that counts operations; nil if there is none.
    var countObserver: (any TaskOperationObserver)?
    /// The start times of executing operations, by arrival. Known only while there are observers.
    fileprivate(set) var startTimes: [UInt64: Moment] = [:]
}

extension Scheduler {
    /// Adds an observer, which receives the present state first and then each event. Adding an observer again has no
    /// effect.
    package nonisolated func addObserver(_ observer: any TaskOperationObserver) {
        let log = withCore { core in
            let log = core.makeObservation(of: identity)
            if core.observation!.value.observers.contains(observer.identity) { return log }
            core.observation!.value.observers.append(observer.identity)
            core.state.setObserved(true)
            isObserved.store(true, ordering: .relaxed)
            let (now, label) = (Moment.now, QueueLabel(identity))
            let present = core.state.presentChanges { $0.isCancelled }
            log.add(
                observer, after: core.state.changes.lastNumber,
                replaying: present.map { TaskOperationEvent($0, at: now, in: label, isReplayed: true) })
            return log
        }
        log.deliver()
    }

    /// Removes an observer. The observer may still be called for earlier events.
    package nonisolated func removeObserver(_ observer: any TaskOperationObserver) {
        let log = withCore { core -> EventLog? in
            guard let observation = core.observation?.value,
                let index = observation.observers.firstIndex(of: observer.identity)
            else { return nil }
            core.observation!.value.observers.remove(at: index)
            if core.observation!.value.observers.isEmpty {
                core.state.setObserved(false)
                isObserved.store(false, ordering: .relaxed)
                core.observation!.value.startTimes = [:]
            }
            observation.log.remove(observer.identity)
            return observation.log
        }
        log?.deliver()
    }

    /// Moves the recorded changes to the log, which is returned. If the last observer was removed meanwhile, the log
    /// discards the changes.
    @inline(never)
    nonisolated func logChanges(_ core: inout SchedulerCore) -> EventLog {
        let (now, label) = (Moment.now, QueueLabel(identity))
        let eventLog = core.observation!.value.log
        eventLog.append { log in
            for change in core.state.changes.changes {
                core.noteTime(of: change.kind, change.arrival, now)
                log.append(TaskOperationEvent(change, at: now, in: label, isReplayed: false))
            }
            // This frees no operation, because the log, which is locked, also retains them.
            core.state.removeChanges()
        }
        return eventLog
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
    /// Creates the observation if it does not exist. Returns its log.
    @discardableResult
    mutating func makeObservation(of identity: QueueIdentity) -> EventLog {
        if observation == nil { observation = Boxed(QueueObservation(log: EventLog(of: identity))) }
        return observation!.value.log
    }

    @inline(__always)
    fileprivate mutating func noteTime(of kind: ChangeKind, _ arrival: UInt64, _ now: Moment) {
        if !state.changes.isObserved { return }
        switch kind {
        case .started: observation!.value.startTimes[arrival] = now
        case .finished: observation!.value.startTimes[arrival] = nil
        default: break
        }
    }
}
