extension AnyTaskOperation {
    /// The priority that was asked for: among ready operations of a queue the higher one starts first, and the
    /// body's task has it. It can be changed at any time; after the end that changes nothing.
    ///
    /// There are five levels, `.background`, `.low`, `.medium`, `.high` and user-interactive (raw value 33); a
    /// value between two of them counts as the lower one. Lowering the priority of an operation that executes
    /// does not slow its task down.
    public var priority: TaskPriority {
        get { record.withLock { $0.level }.taskPriority }
        set {
            let newLevel = tellPriority { record in
                record.level = PriorityLevel(newValue)
                return true
            }
            if let newLevel { Self.escalate(.operation(self), to: newLevel) }
        }
    }

    /// The priority that counts: the highest of `priority` and the priorities of everything that waits for the
    /// operation.
    public var effectivePriority: TaskPriority { record.withLock { $0.effectiveLevel }.taskPriority }

    /// Raises what a more urgent task or operation waits for, and all that it waits for in turn. Each operation
    /// can rise through five levels at most, so all escalations together are linear in the edges.
    func escalate(to level: PriorityLevel) {
        if rise(to: level) { Self.escalate(.operation(self), to: level) }
    }

    /// Raises what something waits for that has a level already.
    private static func escalate(_ target: WaitTarget, to level: PriorityLevel) {
        WaitGraph.inPassing { graph in
            var search = WaitSearch()
            var risen = [target]
            while let target = risen.popLast() {
                risen += search.waited(for: target, in: &graph).filter { $0.operation?.rise(to: level) ?? true }
            }
        }
    }

    /// Returns false where the operation has the level, or has ended. What it has of its own may be lowered later, so
    /// the level is kept in any case.
    private func rise(to level: PriorityLevel) -> Bool {
        tellPriority { record in
            let rises = level > record.effectiveLevel
            record.escalation = max(record.escalation, level)
            return rises
        } != nil
    }

    /// Changes the priority of this operation alone. Returns the new one where it is to be handed on.
    private func tellPriority(_ change: (inout OperationRecord) -> Bool) -> PriorityLevel? {
        let effect = record.withLock { record -> PriorityEffect? in
            if record.phase == .finished || !change(&record) { return nil }
            if record.runner != nil { record.isRunnerWorn = true }
            // A host that has not taken the operation in does so now.
            return PriorityEffect(level: record.effectiveLevel, host: record.host, runner: record.runner)
        }
        guard let effect else { return nil }
        effect.runner?.escalate(to: effect.level)
        effect.host?.priorityChanged(of: self)
        return effect.level
    }
}

/// Who has to learn of a changed priority.
private struct PriorityEffect: Sendable {
    let level: PriorityLevel
    let host: (any OperationHost)?
    let runner: OperationRunner?
}
