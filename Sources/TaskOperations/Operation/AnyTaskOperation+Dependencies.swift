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
        let isSubmitted = try WaitGraph.exclusively { () throws(TaskOperationError) in
            try record.withLock { record throws(TaskOperationError) in try checkNotStarted(record.phase) }
            if let cycle = WaitGraph.cycle(closedBy: self, waitingFor: [.operation(dependency)]) {
                throw .dependencyCycle(cycle)
            }
            return try insertDependency(dependency)
        }
        if isSubmitted { link(to: [dependency]) }
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
        let isSubmitted = try record.withLock { record throws(TaskOperationError) in
            try checkNotStarted(record.phase)
            return record.madeLinks().dependencies.insert(dependency) && record.phase == .submitted
        }
        dependency.record.withLock { $0.isWaitedFor = true }
        return isSubmitted
    }

    private func checkNotStarted(_ phase: OperationRecord.Phase) throws(TaskOperationError) {
        if phase >= .executing { throw .alreadyStarted(.init(self)) }
    }
}

// MARK: - Edges of submitted operations

extension AnyTaskOperation {
    /// Links an operation that was just submitted.
    func linkDependencies() {
        link(to: dependencies)
    }

    /// Tells dependencies that this operation waits for them, and raises them to its priority. Where the host has
    /// this operation already, it learns that it may have to wait.
    func link(to dependencies: [AnyTaskOperation]) {
        let level = record.withLock { $0.effectiveLevel }
        for dependency in dependencies {
            if dependency.addDependent(self) {
                dependency.escalate(to: level)
            } else {
                _ = dependencyFinished(dependency)
            }
        }
        let host = record.withLock { $0.settledHost }
        host?.readinessChanged(of: self)
    }

    /// Returns false where this operation is finished.
    private func addDependent(_ dependent: AnyTaskOperation) -> Bool {
        record.withLock { record in
            if record.phase == .finished { return false }
            record.madeLinks().dependents.append(dependent)
            return true
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
