import Synchronization

/// Propagates priorities along the edges of the wait graph. The target of an urgent waiter is urgent while the waiter
/// waits.
///
/// Each edge stores the level that its target inherits. A target counts its edges by level. A change consists of the
/// old and the new level of an edge, which are read under the lock of the waiter. Changes may arrive in any order,
/// because the counts are correct after the last change has arrived.
///
/// Changes are propagated along the edges without recursion. Then tasks and queues are notified, targets before
/// waiters. An escalated task calls the escalation handlers of its waits. These handlers find that the level has
/// already been propagated, and do nothing. A queue returns the operations that inherit another level through barriers.
/// The propagation continues with these operations.
struct Inheritance: ~Copyable {
    /// A change of the level that a target inherits along an edge.
    struct Change: Sendable {
        let target: WaitNode
        /// Nil if the edge is new.
        let from: PriorityLevel?
        /// Nil if the edge was removed.
        let to: PriorityLevel?
    }

    /// Notifies a task and a queue of a changed level.
    struct Effect: Sendable {
        let operation: AnyTaskOperation
        let level: PriorityLevel
        let hasRisen: Bool
        let scheduler: Scheduler?
    }

    private var changes = TinyArray<Change>()
    private var effects = TinyArray<Effect>()

    /// Performs changes, and all changes that follow from them.
    static func propagate(_ changes: [Change]) {
        if !changes.isEmpty { performing { $0.changes = TinyArray(changes) } }
    }

    /// Performs one change, and all changes that follow from it.
    static func propagate(_ change: Change) { performing { $0.changes.append(change) } }

    static func propagate(_ following: Following) { performing { $0.note(following) } }

    /// Changes the level of an operation, and performs all changes that follow.
    static func change(_ operation: AnyTaskOperation, _ body: (inout OperationRecord) -> Void) {
        performing { $0.note(operation.record.withLock { record in record.changeLevel(of: operation, body) }) }
    }

    /// Updates the floors of operations. A floor is the level that an operation inherits from operations behind
    /// barriers, and from waits for the end of the scheduler.
    static func updateFloors(of operations: [AnyTaskOperation], in scheduler: Scheduler) {
        performing { $0.updateFloors(of: operations, in: scheduler) }
    }

    @inline(__always)
    private static func performing(_ begin: (inout Inheritance) -> Void) {
        var inheritance = Inheritance()
        begin(&inheritance)
        inheritance.perform()
    }

    private mutating func perform() {
        repeat {
            while let change = changes.popLast() { propagate(change) }
            var effects = TinyArray<Effect>()
            swap(&effects, &self.effects)
            while let effect = effects.popLast() { perform(effect) }
        } while !changes.isEmpty || !effects.isEmpty
    }

    private mutating func propagate(_ change: Change) {
        switch change.target {
        case .operation(let operation):
            let following = operation.record.withLock { record in
                operation.isFinished
                    ? nil
                    : record.inherit(from: change.from, to: change.to, of: operation, in: record.madeLinks())
            }
            note(following)
        case .end(let scheduler):
            updateFloors(of: scheduler.idleWaitersChanged(from: change.from, to: change.to), in: scheduler)
        case .permit:
            break
        }
    }

    private mutating func perform(_ effect: Effect) {
        guard let scheduler = effect.scheduler else { return }
        let (floorChanges, worker) = scheduler.levelChanged(of: effect.operation, hasRisen: effect.hasRisen)
        worker?.escalate(to: effect.level)
        updateFloors(of: floorChanges, in: scheduler)
    }

    private mutating func updateFloors(of operations: [AnyTaskOperation], in scheduler: Scheduler) {
        for operation in operations {
            var following: Following?
            scheduler.withFloor(of: operation) { floor in
                following = operation.record.withLock { record in
                    record.changeLevel(of: operation) { $0.floor = floor }
                }
            }
            note(following)
        }
    }

    /// The effects of a changed level.
    struct Following: Sendable {
        fileprivate let changes: [Change]
        fileprivate let effect: Effect
    }

    private mutating func note(_ following: Following?) {
        guard let following else { return }
        for change in following.changes { changes.append(change) }
        effects.append(following.effect)
    }
}

extension OperationRecord {
    /// Changes the level that the operation inherits along an edge. The operation must not be finished.
    ///
    /// - Parameter links: The links of the operation, which the caller has at hand.
    @inline(__always)
    mutating func inherit(
        from: PriorityLevel?, to: PriorityLevel?, of operation: AnyTaskOperation, in links: OperationLinks
    ) -> Inheritance.Following? {
        links.contributions.change(from: from, to: to)
        let highest = links.contributions.highest
        if highest == inherited { return nil }
        // Usually the operation's own level is at least as high, and the change has no effect.
        if operation.phase != .created, max(highest, inherited) <= level {
            inherited = highest
            return nil
        }
        return changeLevel(of: operation) { $0.inherited = highest }
    }

    /// Changes the level. Returns the changes for the targets of the operation, and the notifications.
    fileprivate mutating func changeLevel(
        of operation: AnyTaskOperation, _ body: (inout OperationRecord) -> Void
    ) -> Inheritance.Following? {
        let phase = operation.phase
        let (before, handedOnBefore, orderBefore) = (effectiveLevel, propagatedLevel(in: phase), orderLevel)
        body(&self)
        let (level, handedOn) = (effectiveLevel, propagatedLevel(in: phase))
        if level == before, handedOn == handedOnBefore, orderLevel == orderBefore { return nil }
        if phase == .finished { return nil }
        let effect = Inheritance.Effect(
            operation: operation, level: level, hasRisen: level > before, scheduler: scheduler)
        return .init(changes: links?.propagate(level, toDependencies: handedOn) ?? [], effect: effect)
    }
}

extension OperationLinks {
    /// Passes levels to the targets of the operation.
    fileprivate func propagate(
        _ level: PriorityLevel, toDependencies dependencyLevel: PriorityLevel?
    ) -> [Inheritance.Change] {
        let changes = dependencies.propagate(dependencyLevel)
        guard let extras, !extras.waits.isEmpty else { return changes }
        return changes + extras.waits.raise(to: level)
    }
}
