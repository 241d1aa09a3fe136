extension Scheduler {
    /// How many bodies may execute at once.
    var width: Int {
        get { storage.withLock { $0.state.permits.capacity } }
        set { apply { $0.state.setWidth(newValue) } }
    }

    var isSuspended: Bool {
        get { storage.withLock { $0.state.isSuspended } }
        set { apply { $0.state.setSuspended(newValue) } }
    }

    /// All operations that have not ended, in the order of adding.
    var operations: [AnyTaskOperation] { apply { $0.state.elements } }

    var operationCount: Int { apply { $0.state.records.count } }

    /// Cancels every operation that has not ended. `andAdded`: and any that is added from now on.
    func cancelAll(andAdded: Bool = false) {
        let operations = apply { storage in
            if andAdded { storage.cancelsAdded = true }
            storage.state.holdCount += 1
            return storage.state.elements
        }
        for operation in operations where !operation.isExecuting { operation.cancel() }
        apply { $0.state.holdCount -= 1 }
        // Cancelling a task calls its handlers, which must not find the queue held.
        for operation in operations { operation.cancel() }
    }

    /// The object that owns the queue is being freed, so nobody could resume the queue or raise its width from 0 any
    /// more: what it holds is finished.
    func ownerWasReleased() {
        apply { $0.state.drain() }
    }

    /// Takes no operation from now on, or from when the queue is empty.
    func shutDown(whenEmpty: Bool = false) {
        apply { $0.state.shutDown(whenEmpty: whenEmpty) }
    }

    /// Waits until no operation is left.
    ///
    /// - Throws: `TaskOperationError.waitCycle` within a body that an operation of this queue waits for, or is.
    func waitUntilEmpty() async throws(TaskOperationError) {
        if operationCount == 0 { return }
        try await AnyTaskOperation.whileAwaiting(.host(self)) { await suspendUntilEmpty() }
    }

    /// Finishes what is left, suspended or not, and takes nothing once the queue is empty.
    ///
    /// Where what is left waits for the body that closes the queue, it could never end, and is cancelled.
    func close() async {
        apply { storage in
            storage.state.drain()
            storage.state.shutDown(whenEmpty: true)
        }
        do {
            try await waitUntilEmpty()
        } catch {
            cancelAll(andAdded: true)
            await suspendUntilEmpty()
        }
    }

    /// Waits until no operation is left, without a look at who waits. Nothing rises for it: all in the queue would,
    /// and lose the order that their priorities give them.
    func suspendUntilEmpty() async {
        await withCheckedContinuation { continuation in apply { $0.emptyWaiters.append(continuation) } }
    }
}
