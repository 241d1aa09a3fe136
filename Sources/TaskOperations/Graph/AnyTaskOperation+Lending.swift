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
