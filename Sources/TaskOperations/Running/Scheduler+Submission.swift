extension Scheduler {
    /// Takes one operation in.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, `.notReady` where it must be ready, or `.dependencyCycle`
    ///   where a barrier closes one.
    func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        try claim(operation, mustBeReady: mustBeReady)
        do {
            try insert(CollectionOfOne(operation), isBarrier: isBarrier)
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
        do {
            for operation in operations {
                try claim(operation)
                claimed += 1
            }
            try insert(operations, isBarrier: false)
        } catch {
            for operation in operations.prefix(claimed) { operation.unclaim() }
            throw error
        }
    }

    private func claim(_ operation: AnyTaskOperation, mustBeReady: Bool = false) throws(TaskOperationError) {
        let bindings = taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() }
        try operation.claim(for: self, bindings: bindings, mustBeReady: mustBeReady)
    }

    /// Puts claimed operations into the state. Operations that something waits for already could close a cycle
    /// through a barrier, and barriers could close one with these; both keep others out meanwhile.
    private func insert(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) throws(TaskOperationError) {
        for operation in operations { operation.linkDependencies() }
        let (rejected, effects) =
            if isBarrier || operations.contains(where: \.isWaitedFor) {
                try WaitGraph.exclusively { () throws(TaskOperationError) in
                    for operation in operations { try checkBarriers(operation, isBarrier: isBarrier) }
                    return insertUnchecked(operations, isBarrier: isBarrier)
                }
            } else {
                insertUnchecked(operations, isBarrier: isBarrier)
            }
        carryOut(effects)
        for operation in rejected { reject(operation) }
    }

    private func insertUnchecked(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) -> (rejected: [AnyTaskOperation], Effects) {
        storage.withLock { storage in
            if storage.state.intake == .shut || storage.cancelsAdded { return (Array(operations), Effects()) }
            for operation in operations { storage.insert(operation, isBarrier: isBarrier) }
            return ([], storage.effects())
        }
    }

    private func reject(_ operation: AnyTaskOperation) {
        if storage.withLock({ $0.cancelsAdded }) { return operation.cancel() }
        let label = OperationLabel(operation)
        operation.endBeforeStart(TaskOperationError.queueShutDown(label, queueName: queueName), isCancellation: false)
    }

    /// - Throws: `TaskOperationError.dependencyCycle` where an operation would stand behind a barrier, or be one,
    ///   and what stands before it waits for it.
    private func checkBarriers(_ operation: AnyTaskOperation, isBarrier: Bool) throws(TaskOperationError) {
        let before = storage.withLock { storage in
            isBarrier ? storage.state.elements : storage.state.barriers.last.map { [storage.state.records[$0].element] } ?? []
        }
        if before.isEmpty || !operation.isWaitedFor { return }
        if let cycle = WaitGraph.cycle(closedBy: operation, waitingFor: before.map(WaitGraph.Target.operation)) {
            throw .dependencyCycle(cycle)
        }
    }
}

extension Scheduler.Storage {
    fileprivate mutating func insert(_ operation: AnyTaskOperation, isBarrier: Bool) {
        let standing = operation.standing
        if standing.hasEnded { return }
        let slot = state.add(operation, level: standing.level, isBarrier: isBarrier, isReady: false)
        // Whatever changes from here on finds the slot, and comes to this scheduler.
        let settled = operation.settle(at: slot)
        if settled.hasEnded { return state.end(slot) }
        state.setLevel(slot, settled.level)
        state.setReady(slot, settled.isReady)
    }
}
