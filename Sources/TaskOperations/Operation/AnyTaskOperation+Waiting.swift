extension AnyTaskOperation {
    /// Waits until the operation is finished, in whatever way, without blocking a thread.
    ///
    /// The task that waits hands its priority on to the operation and all that it waits for, also if that priority
    /// rises during the wait. Cancelling the task ends the wait, and the operation goes on.
    ///
    /// A body that waits keeps its permit, unless what it awaits needs one of the same queue, directly or through
    /// others: then it lends its own out until the wait is over, so that a queue cannot deadlock on itself. So it is for
    /// a wait by a child task of the body, which may go on meanwhile. An unstructured task is not the body, even if the
    /// body awaits that: it has only inherited the task locals, and nothing is lent for it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the operation is finished;
    ///   `TaskOperationError.waitCycle` if a body awaits what cannot end before the body does.
    public func waitUntilFinished() async throws {
        if isFinished { return }
        var isOver = true
        try await Self.whileAwaiting(.operation(self)) { isOver = await suspendUntilFinished(endsEarly: true) }
        if !isOver { throw CancellationError() }
    }

    /// Waits until the operation is finished, unless that takes longer than a limit. What a wait does otherwise is as for
    /// `waitUntilFinished()`.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait at most.
    ///   - clock: What measures that.
    /// - Throws: As without a limit; `WaitTimeoutError` when the time is up before the operation is finished. It goes on.
    public func waitUntilFinished<C: Clock>(timeout: C.Duration, clock: C = .continuous) async throws {
        if isFinished { return }
        let (number, isTimeUp) = (Rank.next(), Latch())
        var isOver = true
        try await Self.whileAwaiting(.operation(self)) {
            isOver = await withTimeLimit(timeout, clock: clock) {
                await suspendUntilFinished(number: number, endsEarly: true) { isTimeUp.isSet }
            } onTimeout: { [self] in
                isTimeUp.set()
                leaveWait(number)
            }
        }
        if isOver { return }
        try Task.checkCancellation()
        throw WaitTimeoutError("\(OperationLabel(self)) to finish", timeout: timeout)
    }

    /// As `waitUntilFinished()`, but cancelling the task does not end the wait.
    package func waitToTheEnd() async throws(TaskOperationError) {
        if isFinished { return }
        try await Self.whileAwaiting(.operation(self)) { _ = await suspendUntilFinished(endsEarly: false) }
    }

    /// Suspends the task until the operation is finished.
    ///
    /// - Parameters:
    ///   - number: What `leaveWait` ends the wait with; a number that no other wait has.
    ///   - endsEarly: Whether it ends when the task is cancelled.
    ///   - hasLeft: Asked once the wait has begun: whether `leaveWait` was called before.
    /// - Returns: Whether the operation is finished.
    func suspendUntilFinished(
        number: Int = Rank.next(), endsEarly: Bool, hasLeft: () -> Bool = { false }
    ) async -> Bool {
        var isFinished = false
        await withTaskCancellationHandler {
            await withEscalationHandler {
                isFinished = await withCheckedContinuation { continuation in
                    arrive(continuation, number)
                    // If it was to end before it was there, nobody found it.
                    if endsEarly && Task.isCancelled || hasLeft() { leaveWait(number) }
                }
            } onEscalated: { [self] priority in
                raiseWaiter(number, to: PriorityLevel(priority))
            }
        } onCancel: {
            if endsEarly { leaveWait(number) }
        }
        return isFinished
    }

    private func arrive(_ continuation: CheckedContinuation<Bool, Never>, _ number: Int) {
        let level = PriorityLevel(Task.currentPriority)
        let isFinished = record.withLock { record in
            if record.phase == .finished { return true }
            record.madeLinks().waiters.append(continuation, number: number, level: level)
            return false
        }
        if isFinished { return continuation.resume(returning: true) }
        Inheritance.carryOut([.init(target: .operation(self), from: nil, to: level)])
        // If the task was escalated before the waiter was there, the handler did not find it.
        raiseWaiter(number, to: PriorityLevel(Task.currentPriority))
    }

    private func raiseWaiter(_ number: Int, to level: PriorityLevel) {
        guard let before = record.withLock({ $0.links?.waiters.raise(number, to: level) }) else { return }
        Inheritance.carryOut([.init(target: .operation(self), from: before, to: level)])
    }

    /// Ends a wait, if it is in progress.
    func leaveWait(_ number: Int) {
        guard let (continuation, level) = record.withLock({ $0.links?.waiters.remove(number) }) else { return }
        Inheritance.carryOut([.init(target: .operation(self), from: level, to: nil)])
        continuation.resume(returning: false)
    }
}

// MARK: - Waits of bodies

extension AnyTaskOperation {
    /// The operation whose body runs in the calling task, or in a task of which that is a child; nil anywhere else.
    package static var awaiting: AnyTaskOperation? {
        if let representedBody { return representedBody }
        guard let operation = executing else { return nil }
        let binding = BodyBinding.current
        return operation.record.withLock { $0.runner?.binding == binding } ? operation : nil
    }

    /// The body for which the calling task waits, while that blocks a thread.
    @TaskLocal private static var representedBody: AnyTaskOperation?

    /// Waits in place of a body, if there is one, that blocks its thread until the wait is over.
    package static func representing(
        _ body: AnyTaskOperation?, wait: () async throws(TaskOperationError) -> Void
    ) async throws(TaskOperationError) {
        var result = Result<Void, TaskOperationError>.success(())
        await $representedBody.withValue(body) {
            do throws(TaskOperationError) { try await wait() } catch { result = .failure(error) }
        }
        try result.get()
    }

    /// Waits for a target. If a body does so, the wait is an edge of the wait graph while it lasts.
    ///
    /// - Parameter goesOn: Asked at the end of the wait. If the body is about to end, it needs no permit any more, and is
    ///   not held up until it has it back.
    static func whileAwaiting(
        _ target: WaitNode, permit: PermitPolicy = .keptIfNotNeeded, goesOn: () -> Bool = { true },
        wait: () async -> Void
    ) async throws(TaskOperationError) {
        guard let waiter = awaiting else { return await lendingAbandonedPermit(while: wait) }
        let entry = OperationLinks.Wait(target: target, isSuspended: permit != .kept, handedOn: nil)
        guard try waiter.begin(entry, permit) else { return await lendingAbandonedPermit(while: wait) }
        await wait()
        if goesOn() { await waiter.end(entry) }
    }

    /// What a wait does to the permit of the body.
    enum PermitPolicy {
        /// It is lent if what the body awaits needs it.
        case keptIfNotNeeded
        case kept
        case lent
    }

    /// Does something at whose end a new host is waited for. Within a body, that wait is an edge from the start, so that
    /// what the host runs cannot come to await the body.
    static func asScope<Result>(of host: any OperationHost, _ work: () async -> Result) async -> Result {
        guard let waiter = awaiting else { return await work() }
        let entry = OperationLinks.Wait(target: .end(host), isSuspended: false, handedOn: nil)
        do {
            _ = try waiter.begin(entry, .kept)
        } catch {
            preconditionFailure("an empty queue waits for something: \(error)")
        }
        let result = await work()
        await waiter.end(entry)
        return result
    }

    /// Begins a wait of the body. Returns false, and does nothing, if the operation was abandoned just now.
    ///
    /// - Throws: `TaskOperationError.waitCycle`.
    private func begin(_ wait: OperationLinks.Wait, _ permit: PermitPolicy) throws(TaskOperationError) -> Bool {
        wait.target.willBeAwaited()
        var isAbandoned = false
        while let cycle = insert(wait, &isAbandoned) {
            if Self.lendPermit(on: cycle) { continue }
            wait.target.isNoLongerAwaited()
            throw .waitCycle(Self.labels(of: cycle))
        }
        if isAbandoned {
            wait.target.isNoLongerAwaited()
            return false
        }
        let level = record.withLock { record -> PriorityLevel? in
            record.links?.handOn(record.effectiveLevel, to: wait.target)
        }
        if let level { Inheritance.carryOut([.init(target: wait.target, from: nil, to: level)]) }
        do {
            switch permit {
            case .keptIfNotNeeded: try keepPermit()
            case .kept: break
            case .lent: lendOwnPermit()
            }
        } catch {
            remove(wait)
            throw error
        }
        return true
    }

    /// Makes the edge of a wait, or returns the cycle that it would close.
    private func insert(_ wait: OperationLinks.Wait, _ isAbandoned: inout Bool) -> [WaitNode]? {
        WaitOrder.insert(from: .operation(self), to: [wait.target]) {
            record.withLock { record in
                guard record.phase == .executing else {
                    isAbandoned = true
                    return true
                }
                if wait.target.rank >= rank.value { return false }
                record.madeLinks().waits.append(wait)
                return true
            }
        }
    }

    /// Notes that the body keeps its permit while it awaits; or lends it, if what it awaits needs it.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if it has to lend it and the queue does not.
    private func keepPermit() throws(TaskOperationError) {
        guard let host = record.withLock({ $0.host }), let permit = host.permit else { return }
        // Another task of the body has lent it, and this wait is to be counted too.
        if isPermitLent, host.beginWait(within: self) { return }
        while let cycle = WaitOrder.insert(from: .permit(permit), to: [.operation(self)], make: { permit.insert(self) })
        {
            if permit.isLendable {
                return lendPermit(from: .held)
            } else if !Self.lendPermit(on: cycle) {
                throw .waitCycle(Self.labels(of: cycle))
            }
        }
    }

    private func lendOwnPermit() {
        guard let host = record.withLock({ $0.host }), host.permit != nil else { return }
        if isPermitLent, host.beginWait(within: self) { return }
        for use in [.kept, .held] as [PermitUse] { lendPermit(from: use) }
    }

    private func end(_ wait: OperationLinks.Wait) async {
        let lender = remove(wait)
        await lender?.endWait(within: self, wait.target)
    }

    /// Removes a wait; returns the host that has to do so, if the permit is lent.
    @discardableResult
    private func remove(_ wait: OperationLinks.Wait) -> (any OperationHost)? {
        defer { wait.target.isNoLongerAwaited() }
        let (lender, keeper, change) = record.withLock { record in record.remove(wait) }
        keeper?.permit?.remove(self)
        if let change { Inheritance.carryOut([change]) }
        return lender
    }
}

extension OperationLinks {
    /// Notes which level a target inherits. Returns it; nil if there is no such wait, or it inherits one.
    fileprivate func handOn(_ level: PriorityLevel, to target: WaitNode) -> PriorityLevel? {
        // Waiting for a whole queue raises only what the waiter has inherited: otherwise all in the queue would be at
        // one level, and lose its order.
        guard let index = waits.firstIndex(where: { $0.handedOn == nil && $0.target.identity == target.identity })
        else { return nil }
        if case .end = target { return nil }
        waits[index].handedOn = level
        return level
    }
}

extension OperationRecord {
    /// Removes a wait, unless the permit is lent: then the host does so, which is returned first. Second the host whose
    /// permit is no longer kept for it, and then what the target no longer inherits.
    fileprivate mutating func remove(
        _ wait: OperationLinks.Wait
    ) -> (lender: (any OperationHost)?, keeper: (any OperationHost)?, change: Inheritance.Change?) {
        guard phase == .executing, let links else { return (wait.isSuspended ? abandonedBodyHost : nil, nil, nil) }
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
    /// Removes a wait. Returns what its target no longer inherits.
    func removeWait(for target: WaitNode, isSuspended: Bool) -> Inheritance.Change? {
        let index = waits.firstIndex { $0.isSuspended == isSuspended && $0.target.identity == target.identity }
        guard let index else { return nil }
        let wait = waits.remove(at: index)
        return wait.handedOn.map { Inheritance.Change(target: wait.target, from: $0, to: nil) }
    }
}

// MARK: - Lending

extension AnyTaskOperation {
    /// Has bodies on a cycle lend their permits, so that the cycle is none. Returns false if none on it can.
    ///
    /// All bodies do that keep a permit of the same queue and are on the cycle behind it, or await what is: what needs the
    /// permit waits for each of them, so each is on a cycle of its own. One by one, each would take another search.
    static func lendPermit(on cycle: [WaitNode]) -> Bool {
        let lending = beginLending(on: cycle)
        for body in lending ?? [] { body.completeLending() }
        return lending != nil
    }

    /// Has bodies on a cycle begin to lend. Returns those that do; nil if none on it can.
    private static func beginLending(on cycle: [WaitNode]) -> [AnyTaskOperation]? {
        for (position, node) in cycle.dropLast().enumerated() {
            guard case .permit(let permit) = node, permit.isLendable else { continue }
            let behind = Set(cycle[(position + 1)...].map(\.identity))
            return permit.holdersWaiting(for: behind).filter { $0.beginLending(from: .kept) }
        }
        return nil
    }

    /// Lends the permit of a body that awaits, unless the wait is over or the permit is lent already.
    private func lendPermit(from use: PermitUse) {
        if beginLending(from: use) { completeLending() }
    }

    /// The body no longer keeps its permit, and will lend it.
    private func beginLending(from use: PermitUse) -> Bool {
        let host = record.withLock { record -> (any OperationHost)? in
            guard let links = record.links, links.permit == use, links.suspendedCount > 0 else { return nil }
            links.permit = .lending
            return record.host
        }
        host?.permit?.remove(self)
        return host?.permit != nil
    }

    /// Lends the permit of a body that has begun to. From then on the body waits for a permit too; what keeps one and
    /// waits for the body has to lend its own first, and so on.
    private func completeLending() {
        var lending = [self]
        while let body = lending.popLast() {
            guard let host = body.record.withLock({ $0.host }), let permit = host.permit else { continue }
            while true {
                while let cycle = WaitOrder.sink([.permit(permit)], below: .operation(body)) {
                    lending += Self.beginLending(on: cycle) ?? []
                }
                if host.lendPermit(of: body) { break }
            }
        }
    }

    var isPermitLent: Bool { record.withLock { $0.links?.permit == .lent } }

    /// The host lends the permit.
    ///
    /// - Returns: How many waits are in progress, 0 if they are over; nil if the permits do not rank below the operation,
    ///   which waits for one from now on.
    func permitWasLent(by permit: PermitNode) -> Int? {
        record.withLock { record in
            guard let links = record.links, links.permit == .lending else { return 0 }
            if permit.rank.value >= rank.value { return nil }
            links.permit = .lent
            return links.suspendedCount
        }
    }

    /// A wait of an operation that has lent its permit is over. Returns what the target no longer inherits.
    func removeLentWait(for target: WaitNode) -> Inheritance.Change? {
        record.withLock { $0.links?.removeWait(for: target, isSuspended: true) }
    }

    /// The host has given the permit back.
    func permitWasReturned() {
        record.withLock { $0.links?.permit = .held }
    }

    /// The names of the operations on a cycle, beginning and ending with the first.
    static func labels(of cycle: [WaitNode]) -> [OperationLabel] {
        let operations = cycle.dropLast().compactMap(\.operation)
        return (operations + operations.prefix(1)).map { OperationLabel($0) }
    }
}
