extension AnyTaskOperation {
    /// What this operation waits for before it starts, finished ones included, in the order of adding. Empty once
    /// this operation has finished.
    public var dependencies: [AnyTaskOperation] { record.withLock { $0.links?.dependencies.operations ?? [] } }

    /// Makes this operation start only after another one is finished, whatever comes of it, and on whatever queue
    /// it is. Adding the same dependency again changes nothing.
    ///
    /// Constant time where nothing waits for this operation yet; otherwise it looks for a cycle among what
    /// `dependency` waits for.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` where the dependency waits for this operation already, and
    ///   `.alreadyStarted` where this operation has started or finished. Nothing changes then.
    public func addDependency(_ dependency: AnyTaskOperation) throws(TaskOperationError) {
        let isSubmitted = try WaitGraph.exclusively { graph throws(TaskOperationError) in
            try record.withLock { record throws(TaskOperationError) in try checkNotStarted(record.phase) }
            dependency.record.withLock { $0.isWaitedFor = true }
            if let cycle = graph.cycle(closedBy: self, waitingFor: [.operation(dependency)]) {
                throw .dependencyCycle(cycle)
            }
            return try insertDependency(dependency)
        }
        guard isSubmitted else { return }
        let level = record.withLock { $0.effectiveLevel }
        link(to: dependency, level: level)
        let host = record.withLock { $0.settledHost }
        host?.readinessChanged(of: self)
    }

    /// Drops a dependency, so that this operation no longer waits for it. Where it was the last unfinished one,
    /// the operation becomes ready at once. One that needs the other's value fails with
    /// `TaskOperationError.notReady` where that is not there when it starts.
    ///
    /// - Throws: `TaskOperationError.alreadyStarted` where this operation has started or finished.
    public func removeDependency(_ dependency: AnyTaskOperation) throws(TaskOperationError) {
        let host = try record.withLock { record throws(TaskOperationError) -> (any OperationHost)? in
            try checkNotStarted(record.phase)
            let wasThere = record.links?.dependencies.remove(dependency) ?? false
            return wasThere ? record.settledHost : nil
        }
        host?.readinessChanged(of: self)
    }

    /// Returns whether the operation is submitted, so that the edge must be linked.
    private func insertDependency(_ dependency: AnyTaskOperation) throws(TaskOperationError) -> Bool {
        try record.withLock { record throws(TaskOperationError) in
            try checkNotStarted(record.phase)
            return record.madeLinks().dependencies.insert(dependency) && record.phase == .submitted
        }
    }

    private func checkNotStarted(_ phase: OperationRecord.Phase) throws(TaskOperationError) {
        if phase >= .executing { throw .alreadyStarted(.init(self)) }
    }
}

// MARK: - Edges of submitted operations

extension AnyTaskOperation {
    /// Links an operation that was just submitted, and that its host has not taken in yet.
    func linkDependencies() {
        let (dependencies, level) = record.withLock { ($0.links?.dependencies, $0.effectiveLevel) }
        guard let dependencies else { return }
        for dependency in dependencies.all { link(to: dependency, level: level) }
    }

    /// Tells a dependency that this operation waits for it, and raises it to the level of this one.
    private func link(to dependency: AnyTaskOperation, level: PriorityLevel) {
        switch dependency.addDependent(self, level: level) {
        case .isFinished: _ = dependencyFinished(dependency)
        case .mustRise: dependency.escalate(to: level)
        case .isLinked: break
        }
    }

    private enum Linking: Sendable {
        case isFinished
        case isLinked
        case mustRise
    }

    private func addDependent(_ dependent: AnyTaskOperation, level: PriorityLevel) -> Linking {
        record.withLock { record in
            if record.phase == .finished { return .isFinished }
            record.madeLinks().dependents.append(dependent)
            if level > record.effectiveLevel { return .mustRise }
            // What it has of its own may be lowered later.
            record.escalation = max(record.escalation, level)
            return .isLinked
        }
    }

    /// Returns the host that has to learn of it where that was the last unfinished dependency.
    func dependencyFinished(_ dependency: AnyTaskOperation) -> (any OperationHost)? {
        record.withLock { record in
            record.links?.dependencies.markFinished(dependency)
            return record.isReady ? record.settledHost : nil
        }
    }
}
