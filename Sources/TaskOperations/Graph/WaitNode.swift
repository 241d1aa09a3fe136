import Synchronization

/// A node of the wait graph: an operation, the end of a queue, or a permit.
///
/// The edges of a node lead to the nodes for which it waits:
/// - An operation waits for its dependencies, the targets that its body awaits, the barriers before it, and the permits
///   that it lacks. A barrier also waits for all operations before it.
/// - The end of a queue waits for all operations of the queue.
/// - A permit waits for the bodies that keep a permit of the same limit during their waits. If a claim keeps such a
///   permit, it also waits for the permit that the claim lacks.
enum WaitNode: Sendable {
    case operation(AnyTaskOperation)
    /// The end of all operations of a queue.
    case end(Scheduler)
    /// A free permit of a queue, or of a limit.
    case permit(PermitNode)

    var operation: AnyTaskOperation? {
        if case .operation(let operation) = self { operation } else { nil }
    }

    var identity: ObjectIdentifier {
        switch self {
        case .operation(let operation): ObjectIdentifier(operation)
        case .end(let scheduler): ObjectIdentifier(scheduler)
        case .permit(let permit): ObjectIdentifier(permit)
        }
    }

    var rank: Int {
        switch self {
        case .operation(let operation): operation.rank.value
        case .end(let scheduler): scheduler.endRank
        case .permit(let permit): permit.rank.value
        }
    }

    /// The nodes for which the node currently waits.
    var edges: [WaitNode] {
        switch self {
        case .operation(let operation): operation.edges
        case .end(let scheduler): scheduler.operations.map(WaitNode.operation)
        case .permit(let permit): permit.edges
        }
    }

    /// Lowers the rank of the node to `value`. If the node waits for a node whose rank is `value` or higher, returns
    /// false and changes nothing.
    func lower(to value: Int) -> Bool {
        switch self {
        case .operation(let operation): operation.lowerRank(to: value)
        case .end(let scheduler): scheduler.lowerEnd(to: value)
        case .permit(let permit): permit.lowerRank(to: value)
        }
    }

    /// Records that another node will wait for this node. The rank of this node then no longer increases.
    func willBeAwaited() {
        switch self {
        case .operation(let operation): operation.record.withLock { $0.isWaitedFor = true }
        case .end(let scheduler): scheduler.willBeAwaited()
        case .permit: break
        }
    }

    /// Records that a waiter that called `willBeAwaited` no longer waits for the node.
    func isNoLongerAwaited() {
        if case .end(let scheduler) = self { scheduler.isNoLongerAwaited() }
    }
}

extension WaitNode: CustomStringConvertible {
    var description: String {
        switch self {
        case .operation(let operation): OperationLabel(operation).description
        case .end(let scheduler): "the end of all operations in \(scheduler.label)"
        case .permit: "a permit"
        }
    }
}

// MARK: - Operations

extension AnyTaskOperation {
    fileprivate var edges: [WaitNode] {
        let (edges, scheduler) = record.withLock { record in
            let phase = phase
            return (isOver(record) ? [] : record.edges(in: phase), phase == .added ? record.scheduler : nil)
        }
        guard let scheduler, scheduler.hasBarriers else { return edges }
        return edges + scheduler.operationsHoldingBack(self).map(WaitNode.operation)
    }

    fileprivate func lowerRank(to value: Int) -> Bool {
        // A scheduler records that it has barriers before it compares ranks and inserts the operation.
        let (isLow, scheduler) = record.withLock { record -> (Bool, Scheduler?) in
            if phase == .added, let scheduler = record.scheduler, scheduler.hasBarriers {
                return (false, scheduler)
            }
            return (lowerRank(to: value, record), nil)
        }
        guard let scheduler else { return isLow }
        return scheduler.whileHoldingBack(self) { before in
            before.allSatisfy { $0.rank.value < value }
                && record.withLock { record in
                    // Another scheduler may have inserted the operation in the meantime.
                    (record.scheduler == nil || record.scheduler === scheduler) && lowerRank(to: value, record)
                }
        }
    }

    /// Like `lowerRank(to:)`, for a caller that holds the operation's lock and has already checked barriers.
    func lowerRank(to value: Int, _ record: borrowing OperationRecord) -> Bool {
        if rank.value <= value { return true }
        guard isOver(record) || record.ranksAboveEdges(at: value, in: phase) else { return false }
        rank.set(value)
        return true
    }
}

extension OperationRecord {
    /// The nodes for which the operation waits for reasons other than barriers.
    func edges(in phase: OperationPhase) -> [WaitNode] {
        var edges =
            links.map {
                $0.dependencies.unfinished.map(WaitNode.operation) + ($0.extras?.waits.all ?? []).map(\.target)
            } ?? []
        for permit in missingPermits(in: phase) { edges.append(.permit(permit)) }
        return edges
    }

    /// Whether `rank` is above the ranks of all nodes for which the operation waits for reasons other than barriers.
    func ranksAboveEdges(at rank: Int, in phase: OperationPhase) -> Bool {
        if !missingPermits(in: phase).allSatisfy({ $0.rank.value < rank }) { return false }
        guard let links else { return true }
        return links.dependencies.allUnfinished { $0.rank.value < rank }
            && (links.extras?.waits.all ?? []).allSatisfy { $0.target.rank < rank }
    }

    /// The permits that the operation needs before it can start or continue.
    private func missingPermits(in phase: OperationPhase) -> [PermitNode] {
        switch phase {
        case .created: []
        case .added: permits(of: scheduler)
        case .executing, .finished: lentPermits
        }
    }

    /// The lent permits that the body needs back.
    private var lentPermits: [PermitNode] {
        guard let extras = links?.extras else { return [] }
        let ofScheduler = extras.permit == .lent ? scheduler?.permit.map { [$0] } ?? [] : []
        return extras.limitUse.isLent ? ofScheduler + limits.map(\.limit.permit) : ofScheduler
    }

    /// Whether `rank` is above the ranks of all limits.
    func ranksAboveLimits(at rank: Int) -> Bool { limits.allSatisfy { $0.limit.permit.rank.value < rank } }

    /// The limits; empty after the operation has ended.
    private var limits: [LimitRequest] { links?.limits ?? [] }

    /// The permits that the operation needs to start on a scheduler.
    func permits(of scheduler: Scheduler?) -> [PermitNode] {
        let ofScheduler = scheduler?.permit.map { [$0] } ?? []
        return hasLimits ? ofScheduler + limits.map(\.limit.permit) : ofScheduler
    }
}
