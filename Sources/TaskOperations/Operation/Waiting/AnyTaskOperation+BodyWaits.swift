extension AnyTaskOperation {
    /// The operation whose body runs in the calling task or in one of its parent tasks; otherwise nil.
    package static var awaiting: AnyTaskOperation? {
        guard let operation = executing else { return nil }
        if let representedBody { return representedBody }
        let binding = BodyBinding.current
        return operation.record.withLock { $0.bodyRunner?.binding == binding } ? operation : nil
    }

    /// The operation whose body blocks its thread while the calling task waits on its behalf. It is also the current
    /// operation.
    @TaskLocal private static var representedBody: AnyTaskOperation?

    /// Waits on behalf of a body that blocks its thread until the wait is over. Without such a body, only waits.
    package static func waitingOnBehalf(
        _ body: AnyTaskOperation?, wait: () async throws(TaskOperationError) -> Void
    ) async throws(TaskOperationError) {
        guard let body else { return try await wait() }
        var result = Result<Void, TaskOperationError>.success(())
        await $executing.withValue(body) {
            await $representedBody.withValue(body) {
                do throws(TaskOperationError) { try await wait() } catch { result = .failure(error) }
            }
        }
        try result.get()
    }

    /// False if the calling task certainly does not belong to a body. A wait then needs no edge.
    private static var isWithinBody: Bool { executing != nil }

    /// Waits for a target. If a body waits, the wait is an edge of the wait graph until it ends.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the wait; nil if the target tells the purpose.
    ///   - goesOn: Called at the end of the wait. Returns false if the body is about to end. In that case, the body
    ///     needs no permit and does not wait for one.
    // Inlined: the frames of two functions would take a thirtieth of the cost of a scope of one operation.
    @inline(__always)
    static func withWaitEdge(
        _ target: WaitNode, permit: PermitPolicy = .keptIfNotNeeded, for purpose: OperationLinks.Wait.Purpose? = nil,
        goesOn: () -> Bool = { true }, wait: () async -> Void
    ) async throws(TaskOperationError) {
        if !isWithinBody { return await wait() }
        try await whileBodyAwaits(target, permit, purpose, goesOn, wait)
    }

    @inline(never)
    private static func whileBodyAwaits(
        _ target: WaitNode, _ permit: PermitPolicy, _ purpose: OperationLinks.Wait.Purpose?, _ goesOn: () -> Bool,
        _ wait: () async -> Void
    ) async throws(TaskOperationError) {
        guard let waiter = awaiting else { return await wait() }
        let entry = OperationLinks.Wait(target: target, isSuspended: permit != .kept, purpose: purpose)
        guard try await waiter.begin(entry, permit) else { return await wait() }
        await wait()
        if goesOn() { await waiter.end(entry) }
    }

    /// The effect of a wait on the permit of the body.
    enum PermitPolicy {
        /// The body lends the permit if the target needs it. On a queue that never lends, such a wait is refused.
        case keptIfNotNeeded
        case kept
        /// The body always lends the permit, unless the queue never lends.
        case lent
    }

    /// Runs a function that ends with a wait for a new host. Within a body, this wait is an edge from the start, so
    /// that the operations of the host cannot begin to await the body.
    // Inlined, like `withWaitEdge`.
    @inline(__always)
    static func withScopeEdge<Result>(of host: Scheduler, _ work: () async -> Result) async -> Result {
        if !isWithinBody { return await work() }
        return await asScopeOfBody(host, work)
    }

    private static func asScopeOfBody<Result>(_ host: Scheduler, _ work: () async -> Result) async -> Result {
        guard let waiter = awaiting else { return await work() }
        let entry = OperationLinks.Wait(target: .end(host), isSuspended: false)
        do {
            guard try await waiter.begin(entry, .kept) else { return await work() }
        } catch {
            preconditionFailure("an empty queue waits for something: \(error)")
        }
        let result = await work()
        await waiter.end(entry)
        return result
    }

    /// Begins a wait of the body. If the body has ended, returns false and does nothing.
    ///
    /// - Throws: `TaskOperationError.waitCycle`.
    private func begin(_ wait: OperationLinks.Wait, _ permit: PermitPolicy) async throws(TaskOperationError) -> Bool {
        takePlaceInHost()
        wait.target.willBeAwaited()
        guard try insertKeepingLimits(wait) else {
            wait.target.isNoLongerAwaited()
            return false
        }
        let level = record.withLock { record -> PriorityLevel? in
            record.links?.handOn(record.effectiveLevel, to: wait.target)
        }
        if let level { Inheritance.carryOut(.init(target: wait.target, from: nil, to: level)) }
        do {
            switch permit {
            case .keptIfNotNeeded: try keepPermit()
            case .kept: break
            case .lent: try lendOwnPermit()
            }
        } catch {
            // Another task of the body may have lent the permit just now, and this wait is counted.
            await end(wait)
            throw error
        }
        return true
    }

    /// Gives the operation a rank below the end of its host, if a body awaits that end. The thread that adds the
    /// operation also does this, but possibly after the body has begun. From the first wait of its body, the operation
    /// can be part of a cycle.
    private func takePlaceInHost() {
        guard let host = record.withLock({ $0.host }), rank.value >= host.endRank else { return }
        // This cannot close a cycle, because the operation does not wait for anything yet.
        try? host.restoreOrder(self)
    }

    /// Makes the edge of a wait. If the body has ended, returns false and does nothing.
    ///
    /// The edges of the limits that the body keeps are made first. Therefore a search finds a cycle through a limit at
    /// the wait that would close it, and not at another wait that is not part of the cycle.
    private func insertKeepingLimits(_ wait: OperationLinks.Wait) throws(TaskOperationError) -> Bool {
        let limits = limits
        if !limits.isEmpty { record.withLock { $0.links?.beginningWaitCount += 1 } }
        defer {
            if !limits.isEmpty {
                record.withLock { $0.links?.beginningWaitCount -= 1 }
                for limit in limits { limit.permit.remove(self) }
            }
        }
        do throws(TaskOperationError) {
            try keepLimits()
            var hasEnded = false
            while let cycle = insert(wait, &hasEnded) {
                if !Self.lendPermit(on: cycle) { throw .waitCycle(Self.labels(of: cycle)) }
            }
            return !hasEnded
        } catch {
            wait.target.isNoLongerAwaited()
            throw error
        }
    }

    /// Makes the edge of a wait. If the edge would close a cycle, returns the cycle instead.
    private func insert(_ wait: OperationLinks.Wait, _ hasEnded: inout Bool) -> [WaitNode]? {
        WaitOrder.insert(from: .operation(self), to: [wait.target]) {
            record.withLock { record in
                guard record.hasBody else {
                    hasEnded = true
                    return true
                }
                if wait.target.rank >= rank.value { return false }
                record.madeLinks().waits.append(wait)
                return true
            }
        }
    }

    /// Records that the body keeps its permit while it awaits, or lends the permit if the target needs it.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if the target needs it and the queue never lends.
    private func keepPermit() throws(TaskOperationError) {
        guard let permit = permitForWait() else { return }
        if permit.isLentAlways { return lendPermit(from: .held) }
        while let cycle = WaitOrder.insert(from: .permit(permit), to: [.operation(self)], make: { permit.insert(self) })
        {
            if permit.isLendable {
                return lendPermit(from: .held)
            } else if !Self.lendPermit(on: cycle) {
                throw .waitCycle(Self.labels(of: cycle))
            }
        }
    }

    /// Lends the body's permit, or keeps it on a queue that never lends.
    ///
    /// - Throws: `TaskOperationError.waitCycle` on a queue that never lends, if the target needs a permit of that
    ///   queue.
    private func lendOwnPermit() throws(TaskOperationError) {
        guard let permit = permitForWait() else { return }
        if !permit.isLendable { return try keepPermit() }
        for use in [.kept, .held] as [PermitUse] { lendPermit(from: use) }
    }

    /// The permits of which the body holds one, which it keeps or lends when a wait begins. Nil if it holds none, or if
    /// another task of the body has lent it: then this wait is counted together with the wait of that task.
    private func permitForWait() -> PermitNode? {
        guard let host = record.withLock({ $0.host }), let permit = host.permit else { return nil }
        return lentWaitCount != nil && host.beginWait(within: self) ? nil : permit
    }

    /// Adds edges for the permits of limits that the body keeps while it awaits.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if the target needs one of them.
    func keepLimits() throws(TaskOperationError) {
        for limit in limits {
            let node = WaitNode.permit(limit.permit)
            while let cycle = WaitOrder.insert(from: node, to: [.operation(self)], make: { limit.permit.insert(self) })
            {
                if !Self.lendPermit(on: cycle) { throw .waitCycle(Self.labels(of: cycle)) }
            }
        }
    }

    private func end(_ wait: OperationLinks.Wait) async {
        let limits = limits
        let lender = remove(wait)
        await lender?.endWait(within: self, wait.target)
        for limit in limits { limit.permit.remove(self) }
        guard wait.purpose == nil, case .operation(let target) = wait.target else { return }
        report(.waited, with: target)
    }

    /// Reports a change of the body to the observers of the queue.
    ///
    /// - Parameter other: The second operation of the change; nil if the change concerns one operation.
    func report(_ kind: ChangeKind, with other: AnyTaskOperation? = nil) {
        record.withLock { $0.host }?.report(kind, of: self, with: other)
    }

    /// Removes a wait. If the permit is lent, returns the host instead, which must remove the wait.
    private func remove(_ wait: OperationLinks.Wait) -> Scheduler? {
        defer { wait.target.isNoLongerAwaited() }
        let (lender, keeper, change) = record.withLock { record in record.remove(wait) }
        keeper?.permit?.remove(self)
        if let change { Inheritance.carryOut(change) }
        return lender
    }
}

extension OperationLinks {
    /// Records the level that a target inherits, and returns it. Nil if there is no such wait, or if the target already
    /// inherits a level.
    fileprivate func handOn(_ level: PriorityLevel, to target: WaitNode) -> PriorityLevel? {
        // The operations of an awaited queue inherit only the levels that the waiter inherits from now on, as the child
        // tasks of an awaited task group do.
        guard let index = waits.firstIndex(where: { $0.handedOn == nil && $0.target.identity == target.identity })
        else { return nil }
        if case .end = target { return nil }
        waits[index].handedOn = level
        return level
    }
}

extension OperationRecord {
    /// Removes a wait. If the permit is lent, the host removes it, which is the first result. The second result is the
    /// host whose permit is no longer kept for the wait, the third the level that the target no longer inherits.
    fileprivate mutating func remove(
        _ wait: OperationLinks.Wait
    ) -> (lender: Scheduler?, keeper: Scheduler?, change: Inheritance.Change?) {
        guard hasBody, let links else { return (nil, nil, nil) }
        if links.permit == .lent, wait.isSuspended { return (host, nil, nil) }
        let change = links.removeWait(for: wait.target, isSuspended: wait.isSuspended)
        guard links.suspendedCount == 0, links.permit == .kept || links.permit == .lending else {
            return (nil, nil, change)
        }
        links.permit = .held
        return (nil, host, change)
    }
}

extension OperationLinks {
    /// Removes a wait. Returns the level that its target no longer inherits.
    func removeWait(for target: WaitNode, isSuspended: Bool) -> Inheritance.Change? {
        let index = waits.firstIndex { $0.isSuspended == isSuspended && $0.target.identity == target.identity }
        guard let index else { return nil }
        let wait = waits.remove(at: index)
        return wait.handedOn.map { Inheritance.Change(target: wait.target, from: $0, to: nil) }
    }
}
