import Synchronization

extension Scheduler {
    /// Takes one operation in.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, `.notReady` where it must be ready, or `.dependencyCycle`
    ///   where a barrier closes one, or a wait for the end of the queue, or for a permit that is never lent.
    func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        let standing = try operation.claim(for: self, bindings: capturedTaskLocals, mustBeReady: mustBeReady)
        if standing.hasDependencies { operation.linkDependencies() }
        if isBarrier {
            hasHadBarriers.store(true, ordering: .sequentiallyConsistent)
            return try insertInOrder(CollectionOfOne(operation), isBarrier: true)
        }
        send(operation)
        // If a barrier was added before the operation, or a body awaits the queue, what follows from that was not looked
        // into. Each of them is said before the mailbox is emptied, so that one of both sees the other.
        if hasBarriers || isAwaited { try putInOrder(operation) }
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
        do {
            for operation in operations {
                _ = try operation.claim(for: self, bindings: capturedTaskLocals, mustBeReady: false)
                claimed += 1
            }
        } catch {
            for operation in operations.prefix(claimed) { operation.unclaim() }
            throw error
        }
        for operation in operations { operation.linkDependencies() }
        // Not through the mailbox: that would go through all of them twice more, and there is one lock to take anyway.
        try insertInOrder(operations, isBarrier: false)
    }

    private var capturedTaskLocals: [TaskLocalBinding] { taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() } }

    /// Puts claimed operations into the state, in one step, once that closes no cycle.
    private func insertInOrder(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) throws(TaskOperationError) {
        var late: [AnyTaskOperation] = []
        while true {
            let disorder = apply { storage -> (waiter: WaitNode, targets: [WaitNode])? in
                if hasBarriers || isAwaited {
                    let place = nextPlace(in: storage, isBarrier: isBarrier)
                    for operation in operations where !operation.fits(place) {
                        if let disorder = place.disorder(of: operation, in: self) { return disorder }
                    }
                }
                for operation in operations where !insert(operation, isBarrier: isBarrier, into: &storage) {
                    late.append(operation)
                }
                return nil
            }
            guard let disorder else { break }
            do {
                try resolve(disorder)
            } catch {
                for operation in operations { operation.unclaim() }
                throw error
            }
        }
        for operation in late { try putInOrder(operation) }
    }

    /// Looks into what an operation waits for in the queue, and what waits for it there. Takes it back if it closes a
    /// cycle.
    private func putInOrder(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        while let disorder = apply({ storage in disorder(of: operation, in: storage) }) {
            do {
                try resolve(disorder)
            } catch {
                // Where it has started, or has ended, whoever closed the cycle has gone out of it.
                guard apply({ $0.removeUnstarted(operation) }) else { return }
                operation.unclaim()
                throw error
            }
        }
    }

    private func disorder(
        of operation: AnyTaskOperation, in storage: borrowing Storage
    ) -> (waiter: WaitNode, targets: [WaitNode])? {
        guard let slot = storage.slot(of: operation) else { return nil }
        let place = HostPlace(before: storage.state.elementsHoldingBack(slot), endRank: end.value)
        return place.disorder(of: operation, in: self)
    }

    /// Has targets rank below what waits for them.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle`.
    private func resolve(_ disorder: (waiter: WaitNode, targets: [WaitNode])) throws(TaskOperationError) {
        while let cycle = WaitOrder.sink(disorder.targets, below: disorder.waiter) {
            if !AnyTaskOperation.lendPermit(on: cycle) { throw .dependencyCycle(AnyTaskOperation.labels(of: cycle)) }
        }
    }

    /// The place of what is added now.
    private func nextPlace(in storage: borrowing Storage, isBarrier: Bool) -> HostPlace {
        HostPlace(before: storage.state.elementsHoldingBackNext(isBarrier: isBarrier), endRank: end.value)
    }

    /// Puts an operation into the state. Returns false if it is not in the order of the wait graph yet.
    @discardableResult
    func insert(_ operation: AnyTaskOperation, isBarrier: Bool = false, into storage: inout Storage) -> Bool {
        let place = hasBarriers || isAwaited ? nextPlace(in: storage, isBarrier: isBarrier) : HostPlace()
        return storage.insert(operation, isBarrier: isBarrier, in: place)
    }

    /// Ends an operation that came too late.
    func reject(_ operation: AnyTaskOperation) {
        if storage.withLock({ $0.cancelsAdded }) { return operation.cancel() }
        let label = OperationLabel(operation)
        operation.endBeforeStart(TaskOperationError.queueShutDown(label, queueName: queueName), isCancellation: false)
    }
}

extension Scheduler.Storage {
    fileprivate mutating func insert(_ operation: AnyTaskOperation, isBarrier: Bool, in place: HostPlace) -> Bool {
        if state.intake == .shut || cancelsAdded {
            rejected.append(operation)
            return true
        }
        let slot = state.add(operation, isBarrier: isBarrier)
        let (standing, isInOrder) = operation.settle(at: slot, in: place)
        if standing.hasEnded {
            state.end(slot)
            return true
        }
        state.setLevel(slot, standing.level)
        if standing.isReady { state.setReady(slot, true) }
        return isInOrder
    }
}
