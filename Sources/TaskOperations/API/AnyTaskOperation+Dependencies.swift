import Synchronization

extension AnyTaskOperation {
    /// The dependencies of this operation, in the order in which they were added. Includes finished dependencies. Empty
    /// after this operation has finished.
    public var dependencies: [AnyTaskOperation] { record.withLock { $0.links?.dependencies.operations ?? [] } }

    /// Whether an operation is a direct dependency of this one. Takes constant time.
    package func hasDependency(_ operation: AnyTaskOperation) -> Bool {
        record.withLock { $0.links?.dependencies.contains(operation) ?? false }
    }

    /// Adds a dependency. This operation starts only after the dependency has finished, with any outcome and on any
    /// queue. Adding the same dependency again has no effect.
    ///
    /// Takes constant time if the dependency was created before this operation. Also takes constant time if this
    /// operation has not been added and no operation waits for it. Otherwise the call searches for a cycle among the
    /// operations for which the dependency waits.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` if the dependency already waits for this operation.
    ///   `TaskOperationError.alreadyStarted` if this operation has started or finished. If the call throws, nothing
    ///   changes.
    public func addDependency(_ dependency: AnyTaskOperation) throws(TaskOperationError) {
        try addDependency(dependency, asInput: false) {}
    }

    /// Adds a dependency.
    ///
    /// - Parameters:
    ///   - isInput: Whether the body needs the value of the dependency.
    ///   - insert: Called once under the lock of this operation, when the dependency is added.
    func addDependency(
        _ dependency: AnyTaskOperation, asInput isInput: Bool, insert: () -> Void
    ) throws(TaskOperationError) {
        dependency.record.withLock { $0.isWaitedFor = true }
        var isAdded = false
        while let cycle = try insertDependency(dependency, isInput, insert, &isAdded) {
            if !Self.lendPermit(on: cycle) { throw .dependencyCycle(Self.labels(of: cycle)) }
        }
        if isAdded { linkDependency(dependency) }
        let change = record.withLock { record in
            record.links?.dependencies.propagate(record.propagatedLevel(in: phase), to: dependency) ?? nil
        }
        if let change { Inheritance.propagate(change) }
        // The dependency may have finished.
        if isAdded { record.withLock { insertedScheduler($0) }?.readinessChanged(of: self) }
    }

    /// Removes a dependency, so that this operation no longer waits for it. If no other dependency is unfinished, this
    /// operation becomes ready at once.
    ///
    /// The body may still need the value of the removed dependency. If that dependency has not finished when this
    /// operation starts, this operation fails with `TaskOperationError.notReady`.
    ///
    /// - Throws: `TaskOperationError.alreadyStarted` if this operation has started or finished.
    public func removeDependency(_ dependency: AnyTaskOperation) throws(TaskOperationError) {
        let (removed, scheduler) = try record.withLock { record throws(TaskOperationError) in
            if phase >= .executing { throw .alreadyStarted(OperationLabel(self)) }
            let removed = record.links?.dependencies.remove(dependency)
            return (removed, removed == nil ? nil : insertedScheduler(record))
        }
        guard let removed else { return }
        leave(removed.isLinked ? [removed.operation] : [], removed.change.map { [$0] } ?? [])
        scheduler?.readinessChanged(of: self)
    }

    /// Makes the edge to a dependency. If the edge would close a cycle, returns the cycle instead.
    ///
    /// - Parameters:
    ///   - insert: Called under the lock of this operation if the edge is made.
    ///   - isAdded: Set to true if the caller must link the edge.
    private func insertDependency(
        _ dependency: AnyTaskOperation, _ isInput: Bool, _ insert: () -> Void, _ isAdded: inout Bool
    ) throws(TaskOperationError) -> [WaitNode]? {
        riseAboveEdges()
        // Performed at the end, because an attempt may be made with a lock held.
        var allEffects: [QueueEffects] = []
        defer { for effects in allEffects { effects.perform() } }
        return try WaitOrder.insert(from: .operation(self), to: [.operation(dependency)]) {
            () throws(TaskOperationError) in
            let (isInOrder, effects) = inOneStepWithQueue { record, _ -> Bool? in
                if phase >= .executing { return nil }
                if dependency.rank.value >= rank.value { return false }
                let isNew = record.madeLinks().dependencies.insert(dependency, isInput: isInput)
                insert()
                isAdded = isNew && phase == .added
                return true
            }
            allEffects.append(effects)
            guard let isInOrder else { throw .alreadyStarted(OperationLabel(self)) }
            return isInOrder
        }
    }

    /// Gives the operation a rank above all existing ranks, if no operation or task waits for it.
    private func riseAboveEdges() {
        record.withLock { record in
            if phase == .created, !record.isWaitedFor { rank.set(Rank.next()) }
        }
    }
}

// MARK: - Edges of submitted operations

extension AnyTaskOperation {
    /// Registers this submitted operation with its dependencies, which then inherit its level.
    func linkDependencies() {
        let links = record.withLock { record in
            let level = record.propagatedLevel(in: phase)
            return record.links?.dependencies.link(handingOn: level) ?? TinyArray()
        }
        links.forEach { link($0) }
    }

    /// Registers this new operation with the dependencies with which it was created.
    func link(newDependencies dependencies: [AnyTaskOperation]) {
        if dependencies.count == 1 { return link(.init(dependency: dependencies[0], from: nil, to: .default)) }
        // An operation can be named twice.
        for dependency in self.dependencies { link(.init(dependency: dependency, from: nil, to: .default)) }
    }

    private func linkDependency(_ dependency: AnyTaskOperation) {
        let isNew = record.withLock { $0.links?.dependencies.link(dependency) ?? false }
        if isNew { link(.init(dependency: dependency, from: nil, to: nil)) }
    }

    private func link(_ link: DependencyList.Link) {
        let (isFinished, following) = link.dependency.record.withLock { record -> (Bool, Inheritance.Following?) in
            if link.dependency.isFinished { return (true, nil) }
            let links = record.madeLinks()
            links.dependents.append(self, ())
            return (false, record.inherit(from: link.from, to: link.to, of: link.dependency, in: links))
        }
        if isFinished { _ = dependencyFinished(link.dependency) }
        if let following { Inheritance.propagate(following) }
    }

    /// Undoes `linkDependencies` for an operation that is no longer submitted.
    func unlinkDependencies() {
        let (unlinked, changes) = record.withLock { record -> ([AnyTaskOperation], [Inheritance.Change]) in
            let level = record.propagatedLevel(in: phase)
            guard let links = record.links else { return ([], []) }
            return (links.dependencies.unlink(), links.dependencies.propagate(level))
        }
        leave(unlinked, changes)
    }

    /// Removes this operation from the dependents of the given dependencies, which then no longer inherit its level.
    func leave(_ dependencies: [AnyTaskOperation], _ changes: [Inheritance.Change]) {
        for dependency in dependencies {
            let removed = dependency.record.withLock { $0.links?.dependents.remove(self) }
            extendLifetime(removed)
        }
        Inheritance.propagate(changes)
    }

    /// Records that a dependency has finished. If this operation becomes ready, returns its scheduler, and its slot
    /// there. Only that scheduler can use the slot, under its lock.
    func dependencyFinished(_ dependency: AnyTaskOperation) -> (scheduler: Scheduler, slot: Int)? {
        record.withLock { record in
            record.links?.dependencies.markFinished(dependency)
            guard record.mayStart, phase == .added, let scheduler = insertedScheduler(record) else { return nil }
            return (scheduler, slot)
        }
    }

    /// The scheduler; nil until it has a row for the operation.
    private func insertedScheduler(_ record: borrowing OperationRecord) -> Scheduler? {
        slot >= 0 ? record.scheduler : nil
    }
}
