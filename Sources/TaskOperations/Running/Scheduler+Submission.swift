import Synchronization

extension Scheduler {
    /// Takes one operation in.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`; `.notReady` if it must be ready; `.dependencyCycle` if a barrier
    ///   closes one, or a wait for the end of the queue, or for a permit that is never lent.
    nonisolated func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        try claimAndLink(operation, mustBeReady: mustBeReady)
        if isBarrier {
            hasHadBarriers.store(true, ordering: .sequentiallyConsistent)
            return try insertInOrder([operation], isBarrier: true)
        }
        // Whether it closes a cycle has to be known before another operation is dropped for it.
        if dropsPending { return try insertInOrder([operation], isBarrier: false) }
        if mailbox.put(operation) { apply { _ in } }
        // If a barrier was added before the operation, or a body awaits the queue, what follows from that was not looked
        // into. Each of them is said before the mailbox is emptied, so that one of both sees the other.
        if hasBarriers || isAwaited { try putInOrder(operation) }
    }

    /// Takes operations in, in one step: none of them starts before all are weighed.
    ///
    /// - Throws: As for one operation. Then none has been added.
    nonisolated func submit(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        var claimed = 0
        var dependents: [AnyTaskOperation] = []
        do {
            for operation in operations {
                let snapshot = try operation.claim(for: self, bindings: capturedTaskLocals, mustBeReady: false)
                if snapshot.hasDependencies { dependents.append(operation) }
                claimed += 1
            }
        } catch {
            for operation in operations.prefix(claimed) { operation.unclaim() }
            throw error
        }
        for dependent in dependents { dependent.linkDependencies() }
        // Not through the mailbox: that would go through all of them twice more, and there is one lock to take anyway.
        try insertInOrder(operations, isBarrier: false)
    }

    @inline(__always)
    nonisolated func claimAndLink(
        _ operation: AnyTaskOperation, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        let snapshot = try operation.claim(for: self, bindings: capturedTaskLocals, mustBeReady: mustBeReady)
        if snapshot.hasDependencies { operation.linkDependencies() }
    }

    private nonisolated var capturedTaskLocals: [TaskLocalBinding] {
        taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() }
    }
}

// MARK: - The order of the wait graph

extension Scheduler {
    /// Edges that are out of order: the targets do not rank below the waiter.
    private typealias Disorder = (waiter: WaitNode, targets: [WaitNode])

    /// Puts claimed operations into the state, in one step, once that closes no cycle.
    ///
    /// What follows from looking is carried out at the end: an executor that is called in between could add operations
    /// that depend on these, and that would come before them.
    private nonisolated func insertInOrder(
        _ operations: [AnyTaskOperation], isBarrier: Bool
    ) throws(TaskOperationError) {
        var insertion = Insertion(operations: operations, isBarrier: isBarrier)
        defer { for outbox in insertion.outboxes { carryOut(outbox) } }
        while let disorder = enter(&insertion) {
            do {
                try resolve(disorder)
            } catch {
                for operation in operations { operation.unclaim() }
                throw error
            }
        }
        for operation in insertion.disordered { try putInOrder(operation) }
    }

    private nonisolated func enter(_ insertion: inout Insertion) -> Disorder? {
        var departure = Departure()
        let disorder = enter(with: &insertion, &departure) { scheduler, insertion in scheduler.insert(&insertion) }
        if let outbox = departure.outbox { insertion.outboxes.append(outbox) }
        return disorder
    }

    private struct Insertion {
        let operations: [AnyTaskOperation]
        let isBarrier: Bool
        /// What was inserted and is out of order all the same, as another thread has changed a rank.
        var disordered: [AnyTaskOperation] = []
        /// What is to be carried out at the end.
        var outboxes: [State.Outbox] = []
    }

    /// Inserts operations if that leaves the wait graph in order. Returns what would be out of order otherwise.
    private func insert(_ insertion: inout Insertion) -> Disorder? {
        // What comes too late ends at once, and waits for nothing.
        if state.intake.takes {
            let place = nextPlace(for: insertion.operations, isBarrier: insertion.isBarrier)
            if !place.isFree {
                for operation in insertion.operations where !operation.fits(place) {
                    if let disorder = place.disorder(of: operation, in: self) { return disorder }
                }
            }
        }
        for operation in insertion.operations where !insert(operation, isBarrier: insertion.isBarrier) {
            insertion.disordered.append(operation)
        }
        return nil
    }

    /// Looks into what an operation waits for in the queue, and what waits for it there. Takes it back if it closes a
    /// cycle.
    nonisolated func putInOrder(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        while let disorder = apply(operation, { scheduler, operation in scheduler.disorder(of: operation) }) {
            do {
                try resolve(disorder)
            } catch {
                // If it has started or ended, nothing on the cycle waits for it any more.
                guard let bindings = apply(operation, { scheduler, operation in scheduler.withdraw(operation) })
                else { return }
                operation.unclaim()
                extendLifetime(bindings)
                throw error
            }
        }
    }

    private func disorder(of operation: AnyTaskOperation) -> Disorder? {
        guard let slot = slot(of: operation) else { return nil }
        state.indexArrivals()
        let before = state.elementsHoldingBack(slot)
        let place = HostPlace(hasEdges: !before.isEmpty, before: before, endRank: end.value)
        return place.disorder(of: operation, in: self)
    }

    /// Has targets rank below what waits for them.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle`.
    private nonisolated func resolve(_ disorder: Disorder) throws(TaskOperationError) {
        while let cycle = WaitOrder.sink(disorder.targets, below: disorder.waiter) {
            if !AnyTaskOperation.lendPermit(on: cycle) { throw .dependencyCycle(AnyTaskOperation.labels(of: cycle)) }
        }
    }
}
