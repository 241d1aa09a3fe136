import Synchronization

extension Scheduler {
    /// Takes one operation in.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, `.notReady` where it must be ready, or `.dependencyCycle`
    ///   where a barrier closes one.
    func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        let standing = try claim(operation, mustBeReady: mustBeReady)
        guard isBarrier || standing.isWaitedFor || standing.hasDependencies && isAwaited else {
            return send(operation)
        }
        do {
            try insertChecked(CollectionOfOne(operation), isBarrier: isBarrier)
        } catch {
            operation.unclaim()
            throw error
        }
    }

    /// Puts an operation into the mailbox, and takes in what is there unless whoever works for the queue will do so in
    /// time.
    private func send(_ operation: AnyTaskOperation) {
        mailbox.put(operation)
        let urgent = urgentLevel.load(ordering: .sequentiallyConsistent)
        // The level as it is now: who raised it before the operation was in the mailbox did not find it there.
        if urgent != Storage.noLevel, operation.standing.level.rawValue >= urgent { apply { _ in } }
    }

    /// Takes operations in, in one step: none of them starts before all are weighed.
    ///
    /// - Throws: As for one operation. Then none has been added.
    func submit(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        var claimed = 0
        var mayCloseCycle = isAwaited
        do {
            for operation in operations {
                if try claim(operation).isWaitedFor { mayCloseCycle = true }
                claimed += 1
            }
            if mayCloseCycle { return try insertChecked(operations, isBarrier: false) }
        } catch {
            for operation in operations.prefix(claimed) { operation.unclaim() }
            throw error
        }
        // Not through the mailbox: that would go through all of them twice more, and there is one lock to take anyway.
        apply { $0.insert(operations, isBarrier: false) }
    }

    private func claim(
        _ operation: AnyTaskOperation, mustBeReady: Bool = false
    ) throws(TaskOperationError) -> AnyTaskOperation.Standing {
        let bindings = taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() }
        let standing = try operation.claim(for: self, bindings: bindings, mustBeReady: mustBeReady)
        if standing.hasDependencies { operation.linkDependencies() }
        return standing
    }

    /// Puts claimed operations into the state that could close a cycle, because of barriers or because a body awaits
    /// the whole queue. That is looked into first, and others are kept out meanwhile.
    private func insertChecked(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) throws(TaskOperationError) {
        let effects = try WaitGraph.exclusively { () throws(TaskOperationError) in
            try checkBarriers(operations, isBarrier: isBarrier)
            try checkBodies(operations)
            return enter { $0.insert(operations, isBarrier: isBarrier) }.effects
        }
        carryOut(effects)
    }

    private var isAwaited: Bool { isAwaitedByBodies.load(ordering: .sequentiallyConsistent) }

    /// Ends an operation that came too late.
    func reject(_ operation: AnyTaskOperation) {
        if storage.withLock({ $0.cancelsAdded }) { return operation.cancel() }
        let label = OperationLabel(operation)
        operation.endBeforeStart(TaskOperationError.queueShutDown(label, queueName: queueName), isCancellation: false)
    }

    /// - Throws: `TaskOperationError.dependencyCycle` where an operation would stand behind a barrier, or be one,
    ///   and what stands before it waits for it.
    private func checkBarriers(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) throws(TaskOperationError) {
        // One that was cancelled before holds nobody up, though who depends on it and is not added does not know yet.
        let waitedFor = operations.filter { operation in
            let standing = operation.standing
            return standing.isWaitedFor && !standing.hasEnded
        }
        if waitedFor.isEmpty { return }
        let before = apply { $0.state.elementsHoldingBackNext(isBarrier: isBarrier) }
        if before.isEmpty { return }
        if let cycle = WaitGraph.cycle(closedByAny: waitedFor, waitingFor: before.map(WaitTarget.operation)) {
            throw .dependencyCycle(cycle)
        }
    }

    /// - Throws: `TaskOperationError.dependencyCycle` where an operation waits for a body that awaits the end of
    ///   all in this queue.
    private func checkBodies(_ operations: some Collection<AnyTaskOperation>) throws(TaskOperationError) {
        guard isAwaited else { return }
        if let cycle = WaitGraph.cycle(closedByAdding: operations, to: self) { throw .dependencyCycle(cycle) }
    }
}

extension Scheduler.Storage {
    fileprivate mutating func insert(_ operations: some Collection<AnyTaskOperation>, isBarrier: Bool) {
        for operation in operations { insert(operation, isBarrier: isBarrier) }
    }

    mutating func insert(_ operation: AnyTaskOperation, isBarrier: Bool) {
        if state.intake == .shut || cancelsAdded { return rejected.append(operation) }
        let slot = state.add(operation, isBarrier: isBarrier)
        let standing = operation.settle(at: slot)
        if standing.hasEnded {
            state.end(slot)
            return
        }
        state.setLevel(slot, standing.level)
        if standing.isReady { state.setReady(slot, true) }
    }
}
