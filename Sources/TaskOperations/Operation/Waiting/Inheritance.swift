/// Priorities on their way along the edges of the wait graph: what something urgent waits for is urgent too, and falls
/// again when that is gone.
///
/// Each edge notes the level that it hands on. A change of it is made up of the old level and the new one, both taken
/// under the lock of the waiter; a target counts levels. So changes may overtake each other on the way: the counts are
/// right when the last has come.
///
/// It goes along the edges without recursion, and tells tasks and queues at the end, those first that others wait for.
/// A task that is escalated calls the handlers of what it awaits, and these find nothing left to do.
struct Inheritance: ~Copyable {
    /// An edge to a target hands on another level.
    struct Change: Sendable {
        let target: WaitNode
        /// Nil if the edge is new.
        let from: PriorityLevel?
        /// Nil if the edge is gone.
        let to: PriorityLevel?
    }

    /// What a task or a queue has to learn of a changed level.
    struct Effect: Sendable {
        let operation: AnyTaskOperation
        let level: PriorityLevel
        let hasRisen: Bool
        let host: (any OperationHost)?
        let runner: OperationRunner?
    }

    private var changes: [Change] = []
    private var effects: [Effect] = []

    /// Makes changes, and all that follow from them.
    static func carryOut(_ changes: [Change]) {
        if changes.isEmpty { return }
        var inheritance = Inheritance()
        inheritance.changes = changes
        inheritance.carryOut()
    }

    /// Has the level of an operation changed, and makes all changes that follow.
    static func change(_ operation: AnyTaskOperation, _ body: (inout OperationRecord) -> Void) {
        var inheritance = Inheritance()
        inheritance.change(operation, body)
        inheritance.carryOut()
    }

    private mutating func carryOut() {
        while let change = changes.popLast() { carryOut(change) }
        for effect in effects.reversed() {
            if effect.hasRisen { effect.runner?.escalate(to: effect.level) }
            effect.host?.priorityChanged(of: effect.operation)
        }
    }

    private mutating func carryOut(_ change: Change) {
        switch change.target {
        case .operation(let operation):
            self.change(operation) { $0.inherit(from: change.from, to: change.to) }
        case .end(let host):
            if let level = change.to { raise(host.operations, to: level) }
        case .permit:
            break
        }
    }

    private mutating func change(_ operation: AnyTaskOperation, _ body: (inout OperationRecord) -> Void) {
        let (following, effect) = operation.record.withLock { record in record.changeLevel(of: operation, body) }
        changes += following
        guard let effect else { return }
        effects.append(effect)
        if effect.hasRisen, let host = effect.host, host.hasBarriers {
            raise(host.operationsHoldingBack(operation), to: effect.level)
        }
    }

    /// Raises what a barrier or a whole queue hands its level on to.
    private mutating func raise(_ operations: [AnyTaskOperation], to level: PriorityLevel) {
        for operation in operations {
            change(operation) { record in
                if record.effectiveLevel < level { record.setFloor(level) }
            }
        }
    }
}

/// How many edges hand each level on.
struct LevelContributions: Sendable {
    /// The lowest level changes nothing, so that it is not counted.
    private var counts = SIMD4<Int32>()

    /// The highest level that is handed on.
    var highest: PriorityLevel {
        for level in PriorityLevel.allCases.reversed() where level > .background && counts[Self.place(level)] > 0 {
            return level
        }
        return .background
    }

    mutating func change(from: PriorityLevel?, to: PriorityLevel?) {
        if let from, from > .background { counts[Self.place(from)] -= 1 }
        if let to, to > .background { counts[Self.place(to)] += 1 }
    }

    private static func place(_ level: PriorityLevel) -> Int { Int(level.rawValue) - 1 }
}

extension OperationRecord {
    fileprivate mutating func inherit(from: PriorityLevel?, to: PriorityLevel?) {
        if phase == .finished { return }
        let links = madeLinks()
        links.contributions.change(from: from, to: to)
        inherited = max(links.contributions.highest, links.floor)
    }

    fileprivate mutating func setFloor(_ level: PriorityLevel) {
        if phase == .finished { return }
        let links = madeLinks()
        links.floor = level
        inherited = max(links.contributions.highest, level)
    }

    /// Changes the level. Returns what the operation hands on then, and whom to tell.
    fileprivate mutating func changeLevel(
        of operation: AnyTaskOperation, _ body: (inout OperationRecord) -> Void
    ) -> ([Inheritance.Change], Inheritance.Effect?) {
        let (before, handedOnBefore) = (effectiveLevel, handedOnLevel)
        body(&self)
        let level = effectiveLevel
        if phase == .finished || level == before && handedOnLevel == handedOnBefore { return ([], nil) }
        if level > before, runner != nil { isRunnerWorn = true }
        let effect = Inheritance.Effect(
            operation: operation, level: level, hasRisen: level > before, host: host, runner: runner)
        return (links?.handOn(level, toDependencies: handedOnLevel) ?? [], effect)
    }
}

extension OperationLinks {
    /// What the operation waits for inherits a level. A task does not become less urgent while it awaits something.
    fileprivate func handOn(
        _ level: PriorityLevel, toDependencies dependencyLevel: PriorityLevel?
    ) -> [Inheritance.Change] {
        var changes = dependencies.handOn(dependencyLevel)
        for index in waits.indices where waits[index].isRaised(by: level) {
            changes.append(.init(target: waits[index].target, from: waits[index].handedOn, to: level))
            waits[index].handedOn = level
        }
        return changes
    }
}

extension OperationLinks.Wait {
    /// Whether the target inherits more if the body has a level. The end of a queue inherits only what the body itself
    /// has inherited; an operation, from when the wait was noted with the body's level.
    fileprivate func isRaised(by level: PriorityLevel) -> Bool {
        if let handedOn { return handedOn < level }
        if case .end = target { return true }
        return false
    }
}
