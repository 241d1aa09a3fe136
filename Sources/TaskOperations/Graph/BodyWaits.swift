import Synchronization

extension AnyTaskOperation {
    /// Waits on behalf of a body that blocks its thread until the wait is over. If `body` is nil, only calls `wait`.
    package static func waitingOnBehalf(
        _ body: AnyTaskOperation?, wait: () async throws(TaskOperationError) -> Void
    ) async throws(TaskOperationError) {
        guard let body else { return try await wait() }
        var result = Result<Void, TaskOperationError>.success(())
        let bodyTask = BodyTask()
        await bodyTask.whileFound {
            await bodyTask.withCurrent(body) {
                do throws(TaskOperationError) { try await wait() } catch { result = .failure(error) }
            }
        }
        try result.get()
    }

    /// Waits for a target. If a body waits, the wait graph has an edge until the wait ends.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the wait; nil if the target makes the purpose clear.
    ///   - continues: Called at the end of the wait. Returns false if the body is about to end. In that case, the body
    ///     needs no permit and does not wait for a permit.
    // Inlined, without the frames of two functions: Cost, row 16.
    @inline(__always)
    static func withWaitEdge(
        _ target: WaitNode, permit: PermitPolicy = .keptIfNotNeeded, for purpose: OperationLinks.Wait.Purpose? = nil,
        continues: () -> Bool = { true }, wait: () async -> Void
    ) async throws(TaskOperationError) {
        if !BodyTask.mayBeBody { return await wait() }
        try await whileBodyAwaits(target, permit, purpose, continues, wait)
    }

    @inline(never)
    private static func whileBodyAwaits(
        _ target: WaitNode, _ permit: PermitPolicy, _ purpose: OperationLinks.Wait.Purpose?, _ continues: () -> Bool,
        _ wait: () async -> Void
    ) async throws(TaskOperationError) {
        guard let waiter = current else { return await wait() }
        let permit = permit == .kept && waiter.neverLends ? .keptIfNotNeeded : permit
        let entry = OperationLinks.Wait(target: target, isSuspended: permit != .kept, purpose: purpose)
        guard let slot = try await waiter.begin(entry, permit) else { return await wait() }
        await wait()
        if continues() { await waiter.end(entry, slot) }
    }

    /// The effect of a wait on the permit of the body.
    enum PermitPolicy {
        /// The body lends the permit if the target needs it. On a queue that never lends, such a wait is refused.
        case keptIfNotNeeded
        /// The body continues, and keeps the permit until another wait. On a queue that never lends, operations for which
        /// the body waits cannot await operations that need the permit.
        case kept
        /// The body always lends the permit, unless the queue never lends.
        case lent
    }

    /// Runs a function that ends with a wait for a new scheduler. Within a body, the edge of this wait exists from the
    /// beginning. Operations of the scheduler can then not begin to await the body.
    // Inlined, like `withWaitEdge`.
    @inline(__always)
    static func withScopeEdge<Result>(of scheduler: Scheduler, _ work: () async -> Result) async -> Result {
        if scheduler.scopeWorkers?.openingBody == nil { return await work() }
        return await withScopeEdgeOfBody(of: scheduler, work)
    }

    // Not inlined: otherwise each scope would allocate the optional result.
    @inline(never)
    private static func withScopeEdgeOfBody<Result>(
        of scheduler: Scheduler, _ work: () async -> Result
    ) async -> Result {
        var result: Result?
        // The end of an empty queue closes no cycle. If the wait were refused, the work would run without an edge.
        try? await whileBodyAwaits(.end(scheduler), .kept, nil, { true }) { result = await work() }
        if let result { return result }
        return await work()
    }

    /// Begins a wait of the body, and returns its slot. If the body has ended, returns nil and does nothing.
    ///
    /// - Throws: `TaskOperationError.waitCycle`.
    private func begin(_ wait: OperationLinks.Wait, _ permit: PermitPolicy) async throws(TaskOperationError) -> Int? {
        takePlaceInScheduler()
        wait.target.willBeAwaited()
        var inserted: Int?
        defer { if inserted == nil { wait.target.isNoLongerAwaited() } }
        inserted = try insertKeepingLimits(wait)
        guard let slot = inserted else { return nil }
        if wait.isSuspended { record.withLock { $0.scheduler }?.recordWait(of: self, for: wait.targetOperation) }
        let change = record.withLock { $0.links?.extras?.waits.inherit($0.effectiveLevel, for: slot) }
        if let change { Inheritance.propagate(change) }
        do {
            switch permit {
            case .keptIfNotNeeded: try keepPermit()
            case .kept: break
            case .lent: try lendOwnPermit()
            }
        } catch {
            // Another task of the body may have just lent the permit, so this wait may be counted already.
            await end(wait, slot)
            throw error
        }
        return slot
    }

    /// Whether the body has a permit of a queue that never lends.
    private var neverLends: Bool { record.withLock { $0.scheduler }?.permit.map { !$0.isLendable } ?? false }

    /// Lowers the operation's rank below the rank of its scheduler's end, if a body awaits that end. The thread that adds
    /// the operation does the same, but possibly after the body has begun. The operation can be part of a cycle from
    /// the first wait of its body on.
    private func takePlaceInScheduler() {
        guard let scheduler = record.withLock({ $0.scheduler }), rank.value >= scheduler.endRank else { return }
        // This cannot close a cycle, because the operation does not wait for anything yet.
        try? scheduler.restoreOrder(self)
    }

    /// Makes the edge of a wait, and returns its slot. If the body has ended, returns nil and does nothing.
    ///
    /// First makes the edges of the limits that the body keeps. A cycle through a limit is then found at the wait that
    /// would close the cycle. It is not found at a wait outside the cycle.
    private func insertKeepingLimits(_ wait: OperationLinks.Wait) throws(TaskOperationError) -> Int? {
        let limits = limits
        if !limits.isEmpty { record.withLock { $0.links?.madeExtras().beginningWaitCount += 1 } }
        defer {
            if !limits.isEmpty {
                record.withLock { $0.links?.extras?.beginningWaitCount -= 1 }
                for limit in limits { limit.permit.remove(self) }
            }
        }
        try keepLimits()
        var slot: Int?
        while let cycle = insert(wait, at: &slot) {
            if !Self.lendPermit(on: cycle) { throw .waitCycle(Self.labels(of: cycle)) }
        }
        return slot
    }

    /// Makes the edge of a wait. If the edge would close a cycle, returns the cycle instead.
    ///
    /// - Parameter slot: Receives the slot of the wait; stays nil if the body has ended.
    private func insert(_ wait: OperationLinks.Wait, at slot: inout Int?) -> [WaitNode]? {
        WaitOrder.insert(from: .operation(self), to: [wait.target]) {
            record.withLock { record in
                if isOver(record) { return true }
                if wait.target.rank >= rank.value { return false }
                slot = record.madeLinks().madeExtras().waits.insert(wait)
                return true
            }
        }
    }

    /// Records that the body keeps its permit during the wait. If the target needs the permit, lends it instead.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if the target needs the permit and the queue never lends.
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

    /// Lends the body's permit. On a queue that never lends, the body keeps its permit.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if the queue never lends and the target needs a permit of that queue.
    private func lendOwnPermit() throws(TaskOperationError) {
        guard let permit = permitForWait() else { return }
        if !permit.isLendable { return try keepPermit() }
        for use in [.kept, .held] as [PermitUse] { lendPermit(from: use) }
    }

    /// Returns the permits of the queue if the body holds one of them. Returns nil if the body holds no permit. Also
    /// returns nil if another task of the body has lent the permit. In that case, counts this wait together with the
    /// wait of that task.
    private func permitForWait() -> PermitNode? {
        guard let scheduler = record.withLock({ $0.scheduler }), let permit = scheduler.permit else { return nil }
        return hasLentPermit && scheduler.beginWait(within: self) ? nil : permit
    }

    /// Adds edges for the limits whose permits the body keeps during the wait.
    ///
    /// - Throws: `TaskOperationError.waitCycle` if the target needs one of these permits.
    func keepLimits() throws(TaskOperationError) {
        for limit in limits {
            let node = WaitNode.permit(limit.permit)
            while let cycle = WaitOrder.insert(from: node, to: [.operation(self)], make: { limit.permit.insert(self) })
            {
                if !Self.lendPermit(on: cycle) { throw .waitCycle(Self.labels(of: cycle)) }
            }
        }
    }

    private func end(_ wait: OperationLinks.Wait, _ slot: Int) async {
        let limits = limits
        if let lender = remove(wait, slot) {
            await lender.endWait(within: self, slot, for: wait.target)
        } else {
            wait.target.isNoLongerAwaited()
        }
        for limit in limits { limit.permit.remove(self) }
        if wait.isSuspended || wait.targetOperation != nil { report(.waited, with: wait.targetOperation) }
    }

    /// Reports a change of the body to the observers of the queue.
    ///
    /// - Parameter other: The second operation of the change; nil if the change concerns one operation.
    func report(_ kind: ChangeKind, with other: AnyTaskOperation? = nil) {
        record.withLock { $0.scheduler }?.report(kind, of: self, with: other)
    }

    /// Removes a wait. If the permit is lent, only returns the scheduler, which must remove the wait.
    private func remove(_ wait: OperationLinks.Wait, _ slot: Int) -> Scheduler? {
        let (lender, keeper, change) = record.withLock { record in
            isOver(record) ? (nil, nil, nil) : record.remove(wait, slot)
        }
        keeper?.permit?.remove(self)
        if let change { Inheritance.propagate(change) }
        return lender
    }
}

extension OperationRecord {
    /// Removes a wait. If the permit is lent, only returns the scheduler as `lender`, which must remove the wait. `keeper`
    /// is the scheduler whose permit the body no longer keeps for the wait. `change` removes the level that the target
    /// inherits.
    fileprivate mutating func remove(
        _ wait: OperationLinks.Wait, _ slot: Int
    ) -> (lender: Scheduler?, keeper: Scheduler?, change: Inheritance.Change?) {
        guard let extras = links?.extras else { return (nil, nil, nil) }
        if extras.permit == .lent, wait.isSuspended { return (scheduler, nil, nil) }
        let change = extras.waits.remove(slot)
        guard extras.waits.suspendedCount == 0, extras.permit == .kept || extras.permit == .lending else {
            return (nil, nil, change)
        }
        extras.permit = .held
        return (nil, scheduler, change)
    }
}

/// A wait of a body for a semaphore, a completion handler or a group. Explanations name the awaited object. The wait is
/// an edge of the wait graph only if operations end it. The library cannot predict other events.
struct OpaqueWait: Sendable {
    let kind: AwaitedKind
    /// Returns the name and the state of the awaited object.
    let description: @Sendable () -> String
    let since = ContinuousClock.now
}

/// The kind of an object that a body awaits.
package enum AwaitedKind: Sendable {
    case semaphore, completionHandler, group
}

extension AnyTaskOperation {
    /// Performs a wait for an object. If a body waits, explanations can name the awaited object during the wait.
    ///
    /// - Parameter description: The name and the state of the object.
    package static func recordingWait<Result, Failure>(
        _ kind: AwaitedKind, _ description: @autoclosure @escaping @Sendable () -> String,
        wait: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard let body = current else { return try await wait() }
        let slot = body.record.withLock { record in
            body.isOver(record)
                ? nil : record.madeLinks().madeExtras().notes.insert(OpaqueWait(kind: kind, description: description))
        }
        guard let slot else { return try await wait() }
        defer { extendLifetime(body.record.withLock { $0.links?.extras?.notes.remove(at: slot) }) }
        return try await wait()
    }

    /// Performs a wait until the operation ends. If a body waits, the wait is an edge of the wait graph.
    ///
    /// - Parameter separatesPriorities: Whether the operation inherits only levels that the body inherits later. Used if the
    ///   operation represents work whose operations have priorities of their own.
    package func whileAwaited(
        separatesPriorities: Bool = false, wait: () async -> Void
    ) async throws(TaskOperationError) {
        try await Self.withWaitEdge(
            .operation(self), for: separatesPriorities ? .separatePriorities : nil, wait: wait)
    }

    /// Performs a wait for an object that this operation represents. If a body waits, the wait is an edge of the wait
    /// graph, and explanations name the object.
    package func whileAwaited(
        _ kind: AwaitedKind, _ description: @autoclosure @escaping @Sendable () -> String, wait: () async -> Void
    ) async throws(TaskOperationError) {
        try await Self.withWaitEdge(.operation(self), for: .described) {
            await Self.recordingWait(kind, description(), wait: wait)
        }
    }
}

// MARK: - The waits of one body

/// The waits of a body and of its child tasks, in slots. Each call takes constant time, except `all` and `raise`.
struct BodyWaits: Sendable {
    private var waits = SlotMap<OperationLinks.Wait>()
    /// The number of waits in which a task of the body is suspended.
    private(set) var suspendedCount = 0
    /// A level that every target inherits at least, unless its wait has just begun; nil if there may be none.
    private var inheritedByAll: PriorityLevel? = .userInteractive

    var isEmpty: Bool { waits.count == 0 }

    /// All waits. Takes linear time.
    var all: [OperationLinks.Wait] { waits.all }

    /// Adds a wait, and returns its slot.
    mutating func insert(_ wait: OperationLinks.Wait) -> Int {
        if wait.isSuspended { suspendedCount += 1 }
        if !wait.handsOnAtBeginning { inheritedByAll = nil }
        return waits.insert(wait)
    }

    /// Removes a wait. Returns the level that its target no longer inherits.
    mutating func remove(_ slot: Int) -> Inheritance.Change? {
        let wait = waits.remove(at: slot)
        if wait.isSuspended { suspendedCount -= 1 }
        if isEmpty { inheritedByAll = .userInteractive }
        return wait.handedOn.map { Inheritance.Change(target: wait.target, from: $0, to: nil) }
    }

    /// Passes the level of the body on to the target of a new wait. The operations of an awaited queue inherit only
    /// levels that the waiter inherits later. The same is true for the child tasks of an awaited task group.
    mutating func inherit(_ level: PriorityLevel, for slot: Int) -> Inheritance.Change? {
        if !waits[slot].handsOnAtBeginning { return nil }
        waits[slot].handedOn = level
        inheritedByAll = inheritedByAll.map { min($0, level) }
        return Inheritance.Change(target: waits[slot].target, from: nil, to: level)
    }

    /// Passes a level on to the targets that inherit a lower level. The target of a wait never inherits a lower level
    /// than before, because the priority of a task does not decrease. Linear in the number of waits, but a repeated
    /// call with the same or a lower level takes constant time.
    mutating func raise(to level: PriorityLevel) -> [Inheritance.Change] {
        if isEmpty || inheritedByAll.map({ $0 >= level }) ?? false { return [] }
        var changes: [Inheritance.Change] = []
        for slot in waits.slots where waits[slot].isRaised(by: level) {
            changes.append(.init(target: waits[slot].target, from: waits[slot].handedOn, to: level))
            waits[slot].handedOn = level
        }
        inheritedByAll = level
        return changes
    }
}

extension OperationLinks.Wait {
    /// The operation that the body awaits; nil if it awaits something else.
    var targetOperation: AnyTaskOperation? {
        if case .operation(let target) = target, purpose == nil { target } else { nil }
    }

    /// Whether a new level of the body increases the level that the target inherits.
    fileprivate func isRaised(by level: PriorityLevel) -> Bool {
        handedOn.map { $0 < level } ?? !handsOnAtBeginning
    }
}
