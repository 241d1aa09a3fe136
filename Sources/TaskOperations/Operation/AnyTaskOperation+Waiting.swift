extension AnyTaskOperation {
    /// Waits until the operation is finished, in whatever way, without blocking a thread.
    ///
    /// Whoever waits hands its priority on to the operation and all that it waits for, also where that priority
    /// rises during the wait. The wait itself cannot be cancelled. A body that waits lends its permit out
    /// meanwhile, so that a queue cannot deadlock on itself.
    ///
    /// - Throws: `TaskOperationError.waitCycle` where a body awaits what cannot end before the body does.
    public func waitUntilFinished() async throws(TaskOperationError) {
        if isFinished { return }
        try await Self.whileAwaiting(.operation(self)) { await suspendUntilFinished() }
    }

    func suspendUntilFinished() async {
        await withEscalationHandler {
            // In here, so that no escalation falls between this look and the handler.
            escalate(to: PriorityLevel(Task.currentPriority))
            await withCheckedContinuation { continuation in
                let isFinished = record.withLock { record in
                    if record.phase == .finished { return true }
                    record.madeLinks().continuations.append(continuation)
                    return false
                }
                if isFinished { continuation.resume() }
            }
        } onEscalated: { [self] priority in
            escalate(to: PriorityLevel(priority))
        }
    }

    /// Does the waiting for a target. Within a body, the wait is known to the search for cycles while it lasts,
    /// and the body's permit is lent out.
    static func whileAwaiting(
        _ target: WaitTarget, wait: () async -> Void
    ) async throws(TaskOperationError) {
        guard let waiter = executing, !waiter.isFinished else { return await wait() }
        let host = try WaitGraph.exclusively { graph throws(TaskOperationError) in
            try waiter.insertWait(target, &graph)
        }
        host?.beginWait(within: waiter)
        await wait()
        waiter.removeWait(target)
        await host?.endWait(within: waiter)
    }

    /// Does something at whose end a new host is waited for. Within a body, the search for cycles knows of that
    /// wait from the start, so that what the host runs cannot come to await the body.
    static func asScope<Result>(of host: any OperationHost, _ work: () async -> Result) async -> Result {
        guard let waiter = executing, !waiter.isFinished else { return await work() }
        waiter.record.withLock { $0.madeLinks().waits.append(.host(host)) }
        host.willBeAwaited()
        let result = await work()
        waiter.removeWait(.host(host))
        return result
    }

    private func insertWait(
        _ target: WaitTarget, _ graph: inout WaitGraph
    ) throws(TaskOperationError) -> (any OperationHost)? {
        switch target {
        case .operation(let operation): operation.record.withLock { $0.isWaitedFor = true }
        case .host(let host): host.willBeAwaited()
        }
        if let cycle = graph.cycle(closedBy: self, waitingFor: [target]) { throw .waitCycle(cycle) }
        return record.withLock { record in
            if record.phase != .finished { record.madeLinks().waits.append(target) }
            return record.host
        }
    }

    private func removeWait(_ target: WaitTarget) {
        record.withLock { record in
            if let index = record.links?.waits.firstIndex(where: { $0.identity == target.identity }) {
                record.links?.waits.remove(at: index)
            }
        }
    }
}
