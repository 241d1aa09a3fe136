import Synchronization

extension AnyTaskOperation {
    /// Breaks a cycle, if possible. Bodies on the cycle lend their permits, or permits of limits are no longer kept
    /// free. Returns false if neither is possible.
    ///
    /// All bodies that keep a permit of the same queue and await an operation on the cycle lend their permits. The
    /// operation that needs a permit waits for each of these bodies. Each body is therefore on a cycle, which would
    /// otherwise need another search.
    static func lendPermit(on cycle: [WaitNode]) -> Bool {
        let lending = beginLending(on: cycle)
        for body in lending ?? [] { body.completeLending() }
        return lending != nil || stopKeeping(on: cycle)
    }

    /// Stops keeping the permits of a limit free, if this causes an edge of the cycle. Returns false if there is no
    /// such edge.
    private static func stopKeeping(on cycle: [WaitNode]) -> Bool {
        for case (.permit(let permit), .permit(let target)) in zip(cycle, cycle.dropFirst()) {
            if permit.stopKeeping(for: target) { return true }
        }
        return false
    }

    /// Makes bodies on a cycle begin to lend. Returns these bodies; nil if no body on the cycle can lend its permit.
    private static func beginLending(on cycle: [WaitNode]) -> [AnyTaskOperation]? {
        for (position, node) in cycle.dropLast().enumerated() {
            guard case .permit(let permit) = node, permit.isLendable else { continue }
            let behind = Set(cycle[(position + 1)...].map(\.identity))
            return permit.holdersWaiting(for: behind).filter { $0.beginLending(from: .kept) }
        }
        return nil
    }

    /// Lends the permit of a waiting body, unless the wait is over or the permit is already lent.
    func lendPermit(from use: PermitUse) {
        if beginLending(from: use) { completeLending() }
    }

    /// Records that the body no longer keeps its permit and is about to lend it.
    private func beginLending(from use: PermitUse) -> Bool {
        let scheduler = record.withLock { record -> Scheduler? in
            guard let extras = record.links?.extras, extras.permit == use, extras.waits.suspendedCount > 0 else {
                return nil
            }
            extras.permit = .lending
            return record.scheduler
        }
        scheduler?.permit?.remove(self)
        return scheduler?.permit != nil
    }

    /// Completes the lending of a permit. From then on, the body waits for a permit. Another body that keeps a permit
    /// and waits for this body would close a cycle, and must therefore lend its permit, too.
    private func completeLending() {
        var lending = [self]
        while let body = lending.popLast() {
            guard let scheduler = body.record.withLock({ $0.scheduler }), let permit = scheduler.permit else {
                continue
            }
            var effects: [Scheduler.Effects] = []
            while let cycle = WaitOrder.insert(
                from: .operation(body), to: [.permit(permit)], make: { scheduler.lendPermit(of: body, &effects) })
            {
                lending += Self.beginLending(on: cycle) ?? []
            }
            for effect in effects { scheduler.perform(effect) }
        }
    }

    /// Whether the body has lent its permit.
    var hasLentPermit: Bool { record.withLock { $0.links?.extras?.permit == .lent } }

    /// Records that the scheduler lends the permit.
    ///
    /// - Returns: Whether the body still waits. Nil if the permits have the same rank as the operation or a higher rank.
    ///   The operation must rank above the permits, because it waits for a permit from now on.
    func permitWasLent(by permit: PermitNode) -> Bool? {
        record.withLock { record in
            guard let extras = record.links?.extras, extras.permit == .lending else { return false }
            if permit.rank.value >= rank.value { return nil }
            extras.permit = .lent
            return true
        }
    }

    /// Removes a wait of an operation that has lent its permit. Returns the level that the target no longer inherits, and
    /// whether it was the last wait in which a task of the body was suspended.
    func removeLentWait(_ slot: Int) -> (change: Inheritance.Change?, isLast: Bool) {
        record.withLock { record in
            guard let extras = record.links?.extras else { return (nil, true) }
            let change = extras.waits.remove(slot)
            return (change, extras.waits.suspendedCount == 0)
        }
    }

    func permitWasReturned() {
        record.withLock { $0.links?.extras?.permit = .held }
    }

    /// The labels of the operations on a cycle, beginning and ending with the first operation.
    static func labels(of cycle: [WaitNode]) -> [OperationLabel] {
        let operations = cycle.dropLast().compactMap(\.operation)
        return (operations + operations.prefix(1)).map { OperationLabel($0) }
    }
}

// MARK: - Limits

// During a pause between attempts, a body lends the permits of its limits, and then takes them back.

extension AnyTaskOperation {
    /// Performs a wait, during which the calling body lends the permits of its limits.
    ///
    /// The body keeps the permits if an operation that awaits the body holds a permit of one of the limits. Otherwise the
    /// two operations would wait for each other. Whether the queue lends its own permits makes no difference.
    ///
    /// If the task is cancelled during the wait, the body does not take the permits back, and must end.
    static func lendingLimits(while work: () async -> Void) async {
        guard let operation = current, let scheduler = operation.schedulerToLendLimits() else {
            return await work()
        }
        scheduler.setLimitsLent(true, of: operation)
        await work()
        operation.record.withLock { $0.links?.madeExtras().limitUse = .returning }
        let level = PriorityLevel(operation.effectivePriority)
        guard await LimitReturn(operation.limitRequests, level: level).wait() else { return }
        // The next attempt has used the whole cost again.
        operation.record.withLock { $0.links!.extras?.settledCosts = [:] }
        operation.limitsWereReturned()
        scheduler.setLimitsLent(false, of: operation)
    }

    /// Prepares to lend the permits of the body's limits, and returns the scheduler of the body. If the body must keep
    /// the permits, returns nil and changes nothing.
    private func schedulerToLendLimits() -> Scheduler? {
        let scheduler = record.withLock { record -> Scheduler? in
            guard record.hasLimits, let scheduler = record.scheduler else { return nil }
            record.links!.madeExtras().limitUse = .lending
            return scheduler
        }
        guard let scheduler else { return nil }
        let permits = limits.map(\.permit)
        for permit in permits { permit.remove(self) }
        let cycle = WaitOrder.insert(from: .operation(self), to: permits.map(WaitNode.permit)) {
            record.withLock { record in
                guard permits.allSatisfy({ $0.rank.value < rank.value }) else { return false }
                record.links!.madeExtras().limitUse = .lent
                return true
            }
        }
        if cycle == nil { return scheduler }
        limitsWereReturned()
        return nil
    }

    private func limitsWereReturned() {
        record.withLock { $0.links!.extras?.limitUse = .held }
        do {
            try keepLimits()
        } catch {
            preconditionFailure("a body in a pause waits for something but the end of the pause: \(error)")
        }
    }
}

/// A task that waits until it can take the permits of several limits.
private final class LimitReturn: LimitClaimant {
    private struct State: Sendable {
        var level: PriorityLevel
        var isCancelled = false
        /// The claim and the continuation of a wait in progress; otherwise nil.
        var wait: (claim: LimitClaim, continuation: WaitContinuation<Bool>)?
    }

    private let requests: [LimitRequest]
    private let state: Lock<State>

    init(_ requests: [LimitRequest], level: PriorityLevel) {
        self.requests = requests
        state = Lock(State(level: level))
    }

    /// Waits for the permits and takes them. If the task is cancelled, returns false and takes no permit.
    func wait() async -> Bool {
        await withWaitHandlers(endsWhenCancelled: true) { priority in
            self.update { $0.level = max($0.level, PriorityLevel(priority)) }.perform()
        } end: {
            update { $0.isCancelled = true }.perform()
        } register: { continuation in
            let claim = LimitClaim(of: self, set: 0, requests)
            update { state in
                // Read under the lock, so that the claim never has a level below the priority of the task.
                state.level = max(state.level, PriorityLevel(Task.currentPriority))
                state.wait = (claim, continuation)
                if Task.isCancelled { state.isCancelled = true }
            }.perform()
        }
    }

    /// Changes the state. Then ends the wait if the task is cancelled, or if the claim can take the permits.
    private func update(_ change: (inout State) -> Void) -> ClaimEffects {
        var effects = SemaphoreEffects()
        let ended = state.withLock { state -> (continuation: WaitContinuation<Bool>, isTaken: Bool)? in
            change(&state)
            guard let wait = state.wait else { return nil }
            if state.isCancelled {
                wait.claim.withdraw(&effects)
            } else if !wait.claim.take(at: state.level, &effects) {
                return nil
            }
            state.wait = nil
            return (wait.continuation, !state.isCancelled)
        }
        return ClaimEffects(
            semaphores: effects,
            onOwner: ended.map { ended in { ended.continuation.resume(returning: ended.isTaken) } })
    }

    var readsClock: Bool { false }

    func claimWasServed(_ claim: LimitClaim) -> ClaimEffects { update { _ in } }

    func change(
        _ claim: LimitClaim, _ change: @escaping @Sendable (LimitClaim, inout SemaphoreEffects) -> Void
    ) -> ClaimEffects {
        var effects = SemaphoreEffects()
        state.withLock { _ in change(claim, &effects) }
        return ClaimEffects(semaphores: effects)
    }
}

/// Calls a function, and lends the permit of the calling body to other operations during the call.
///
/// By default, a body keeps its permit while it waits, so that no other body of a serial queue can run. It lends the
/// permit automatically only if the awaited operation needs the permit to end. Use this function for long waits for
/// external events, such as a user's answer, a file lock, or a pause.
///
/// ```swift
/// queue.addOperation {
///     let draft = try await prepare()
///     let answer = try await withPermitLent { try await user.confirm(draft) }
///     try await publish(draft, answer)
/// }
/// ```
///
/// While `work` runs, other operations of the queue can execute. After `work`, the body waits until a permit is free.
/// The body receives the permit before any other operation starts, even on a suspended queue. Cancelling the operation
/// does not shorten this wait.
///
/// Child tasks of the body that run during the call have no permit. Calls may be nested, and several child tasks may
/// call this function at once. The body takes its permit back after the last of these calls.
///
/// In the following cases, the function lends no permit and only calls `work`:
/// - The calling task does not belong to a body. For example, it is an unstructured task that a body has started.
/// - The operation was started without a queue.
/// - The queue has the option `lending: .never`.
///
/// - Parameter work: The function that needs no permit.
/// - Returns: The result of `work`.
/// - Throws: The error that `work` throws.
public func withPermitLent<Value, Failure>(
    _ work: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    var result: Result<Value, Failure>?
    await AnyTaskOperation.lendingPermit {
        do throws(Failure) {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
    }
    return try result!.get()
}

extension AnyTaskOperation {
    /// Calls a function. If the calling task belongs to a body, the body lends its permit during the call.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the wait, for explanations.
    ///   - continues: Called after `work`. Returns true if the body needs its permit back. Otherwise the body must end at
    ///     once.
    static func lendingPermit(
        for purpose: OperationLinks.Wait.Purpose = .work, continues: () -> Bool = { true }, while work: () async -> Void
    ) async {
        // In the wait graph, the body waits for this operation, which represents the work.
        let end = TaskOperation.placeholder(name: nil)
        do {
            try await withWaitEdge(.operation(end), permit: .lent, for: purpose, continues: continues) {
                await work()
                end.finishExternally()
            }
        } catch {
            preconditionFailure("A new placeholder has a dependency that closes a cycle: \(error)")
        }
    }
}
