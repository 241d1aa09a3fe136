extension Scheduler {
    /// Takes one operation in.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, `.notReady` where it must be ready, or `.dependencyCycle`
    ///   where a barrier closes one.
    func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        let standing = try claim(operation, mustBeReady: mustBeReady)
        do {
            let mayCloseCycle = isBarrier || standing.isWaitedFor || standing.hasDependencies && isAwaitedByBodies
            try insert(CollectionOfOne(operation), isBarrier: isBarrier, mayCloseCycle: mayCloseCycle)
        } catch {
            operation.unclaim()
            throw error
        }
    }

    /// Takes operations in, in one step: none of them starts before all are weighed.
    ///
    /// - Throws: As for one operation. Then none has been added.
    func submit(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        var claimed = 0
        var mayCloseCycle = isAwaitedByBodies
        do {
            for operation in operations {
                if try claim(operation).isWaitedFor { mayCloseCycle = true }
                claimed += 1
            }
            try insert(operations, isBarrier: false, mayCloseCycle: mayCloseCycle)
        } catch {
            for operation in operations.prefix(claimed) { operation.unclaim() }
            throw error
        }
    }

    private func claim(
        _ operation: AnyTaskOperation, mustBeReady: Bool = false
    ) throws(TaskOperationError) -> AnyTaskOperation.Standing {
        let bindings = taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() }
        let standing = try operation.claim(for: self, bindings: bindings, mustBeReady: mustBeReady)
        if standing.hasDependencies { operation.linkDependencies() }
        return standing
    }

    /// Puts claimed operations into the state. What could close a cycle, because of barriers or because a body
    /// awaits the whole queue, is looked into first, and others are kept out meanwhile.
    private func insert(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool, mayCloseCycle: Bool
    ) throws(TaskOperationError) {
        let (isTaken, effects) =
            if mayCloseCycle {
                try WaitGraph.exclusively { () throws(TaskOperationError) in
                    try checkBarriers(operations, isBarrier: isBarrier)
                    try checkBodies(operations)
                    return insertUnchecked(operations, isBarrier: isBarrier)
                }
            } else {
                insertUnchecked(operations, isBarrier: isBarrier)
            }
        carryOut(effects)
        if !isTaken {
            for operation in operations { reject(operation) }
        }
    }

    private func insertUnchecked(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) -> (isTaken: Bool, Effects?) {
        storage.withLock { storage in
            if storage.state.intake == .shut || storage.cancelsAdded { return (false, nil) }
            if storage.keptAlive == nil { storage.keptAlive = self }
            for operation in operations { storage.insert(operation, isBarrier: isBarrier) }
            return (true, storage.effects())
        }
    }

    private func reject(_ operation: AnyTaskOperation) {
        if storage.withLock({ $0.cancelsAdded }) { return operation.cancel() }
        let label = OperationLabel(operation)
        operation.endBeforeStart(TaskOperationError.queueShutDown(label, queueName: queueName), isCancellation: false)
    }

    /// - Throws: `TaskOperationError.dependencyCycle` where an operation would stand behind a barrier, or be one,
    ///   and what stands before it waits for it.
    private func checkBarriers(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) throws(TaskOperationError) {
        let waitedFor = operations.filter(\.standing.isWaitedFor)
        if waitedFor.isEmpty { return }
        let before = storage.withLock { $0.state.elementsHoldingBackNext(isBarrier: isBarrier) }
        if before.isEmpty { return }
        if let cycle = WaitGraph.cycle(closedByAny: waitedFor, waitingFor: before.map(WaitTarget.operation)) {
            throw .dependencyCycle(cycle)
        }
    }

    /// - Throws: `TaskOperationError.dependencyCycle` where an operation waits for a body that awaits the end of
    ///   all in this queue.
    private func checkBodies(_ operations: some Collection<AnyTaskOperation>) throws(TaskOperationError) {
        guard isAwaitedByBodies else { return }
        if let cycle = WaitGraph.cycle(closedByAdding: operations, to: self) { throw .dependencyCycle(cycle) }
    }

    private var isAwaitedByBodies: Bool { storage.withLock { $0.isAwaitedByBodies } }
}

extension Scheduler.Storage {
    fileprivate mutating func insert(_ operation: AnyTaskOperation, isBarrier: Bool) {
        let slot = state.add(operation, isBarrier: isBarrier)
        let standing = operation.settle(at: slot)
        if standing.hasEnded { return state.end(slot) }
        state.setLevel(slot, standing.level)
        if standing.isReady { state.setReady(slot, true) }
    }
}
