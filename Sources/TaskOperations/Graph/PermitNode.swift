import Synchronization

/// A node of the wait graph that represents the permits of a queue or of a limit. A limit is a semaphore that limits
/// operations. An operation that needs a permit waits for the bodies that keep a permit during their own waits.
///
/// A cycle through such a body is not an error if the permits are lendable. The body then lends its permit, which
/// removes the body from the cycle.
final class PermitNode: Sendable {
    private struct State: Sendable {
        /// The bodies that keep a permit during a wait.
        var holders = OperationList<Void>()
        /// The waiters that keep permits of this node. Each of them waits for a permit of another node, its target.
        var keepers: [ObjectIdentifier: [(keeper: any PermitKeeper, target: PermitNode)]] = [:]

        var allKeepers: [(keeper: any PermitKeeper, target: PermitNode)] { keepers.values.flatMap(\.self) }
    }

    /// The rule of the queue; nil if the node represents a limit, whose permits bodies keep.
    private let lending: TaskOperationQueue.Configuration.Lending?
    /// The rank. It is 0 at first, which is below the ranks of new operations. It decreases when a node of a lower rank
    /// begins to wait for a permit.
    let rank = Rank(0)
    private let state = Lock(State())

    init(lending: TaskOperationQueue.Configuration.Lending?) {
        self.lending = lending
    }

    var isLendable: Bool { lending == .whenNeeded || lending == .always }

    var isLentAlways: Bool { lending == .always }

    private var isLimit: Bool { lending == nil }

    var edges: [WaitNode] {
        state.withLock { $0.holders.operations.map(WaitNode.operation) + $0.allKeepers.map { .permit($0.target) } }
    }

    /// The bodies that hold a permit and belong to a set of nodes, or await a node of the set. Takes linear time.
    func holdersWaiting(for nodes: Set<ObjectIdentifier>) -> [AnyTaskOperation] {
        state.withLock { $0.holders.operations }.filter { holder in
            if nodes.contains(ObjectIdentifier(holder)) { return true }
            return holder.record.withLock { record in
                record.links?.extras?.waits.all.contains { nodes.contains($0.target.identity) } ?? false
            }
        }
    }

    func lowerRank(to value: Int) -> Bool {
        state.withLock { state in
            if rank.value <= value { return true }
            guard state.holders.operations.allSatisfy({ $0.rank.value < value }),
                state.keepers.values.allSatisfy({ $0.allSatisfy { $0.target.rank.value < value } })
            else { return false }
            rank.set(value)
            return true
        }
    }

    /// If a body keeps its permit during a wait, adds the body to the holders. Returns false if the body has the same
    /// rank as this node or a higher rank.
    func insert(_ holder: AnyTaskOperation) -> Bool {
        state.withLock { state in
            let (isInOrder, isNew) = holder.record.withLock { record in
                guard let extras = record.links?.extras,
                    isLimit ? extras.keepsLimits : extras.waits.suspendedCount > 0 && extras.permit == .held
                else { return (true, false) }
                if holder.rank.value >= rank.value { return (false, false) }
                if !isLimit { extras.permit = .kept }
                return (true, true)
            }
            // The body may still be in the list because of a wait that has just ended.
            if isNew, !state.holders.contains(holder) { state.holders.append(holder, ()) }
            return isInOrder
        }
    }
}

extension PermitNode {
    /// Removes a body from the holders, unless it still keeps its permit for a wait.
    func remove(_ holder: AnyTaskOperation) {
        _ = state.withLock { state in
            let isKept = holder.record.withLock { record in
                !holder.isOver(record) && record.keepsPermit(ofLimit: isLimit)
            }
            return isKept ? nil : state.holders.remove(holder)?.operation
        }
    }
}

extension OperationRecord {
    /// Whether the body keeps permits during a wait. These are the permits of its limits if `isLimit` is true, and
    /// otherwise the permit of its queue.
    fileprivate func keepsPermit(ofLimit isLimit: Bool) -> Bool {
        guard let extras = links?.extras else { return false }
        if isLimit { return extras.limitUse == .held && (extras.keepsLimits || extras.permit == .lent) }
        return extras.permit == .kept
    }
}

extension OperationLinks.Extras {
    /// Whether the body keeps its limits, because it is waiting or is about to wait.
    ///
    /// A body that has opened a scope will wait for the scope's end, so it keeps its limits from the beginning. An
    /// operation that needs one of these limits is therefore refused when it is added to the scope.
    fileprivate var keepsLimits: Bool { !waits.isEmpty || beginningWaitCount > 0 }
}

// MARK: - Permits that waiters keep

/// A waiter that keeps permits while it waits for another permit.
protocol PermitKeeper: AnyObject, Sendable {
    /// Gives the kept permits back. Called with no lock held.
    func stopKeeping()
}

extension PermitNode {
    /// Records that a waiter keeps a permit while it waits for a permit of `target`. If `target` has the same rank as
    /// this node or a higher rank, returns false and does nothing.
    func insertEdge(of keeper: any PermitKeeper, to target: PermitNode) -> Bool {
        state.withLock { state in
            if target.rank.value >= rank.value { return false }
            state.keepers[ObjectIdentifier(keeper), default: []].append((keeper, target))
            return true
        }
    }

    func removeEdges(of keeper: any PermitKeeper, to target: PermitNode) {
        let former = state.withLock { state in
            let former = state.keepers.removeValue(forKey: ObjectIdentifier(keeper)) ?? []
            let others = former.filter { $0.target !== target }
            if !others.isEmpty { state.keepers[ObjectIdentifier(keeper)] = others }
            return former
        }
        // Released after unlocking.
        extendLifetime(former)
    }

    /// Makes the waiters that keep permits of this node give them back. Returns false if there is no such waiter.
    ///
    /// - Parameter target: The node for whose permits the waiters wait; nil for all waiters.
    @discardableResult
    func stopKeeping(for target: PermitNode? = nil) -> Bool {
        let keepers = state.withLock { state in
            state.keepers.isEmpty ? [] : state.allKeepers.filter { target == nil || $0.target === target }
        }
        for (keeper, _) in keepers { keeper.stopKeeping() }
        return !keepers.isEmpty
    }
}

/// The use of a body's permit during the body's waits.
enum PermitUse: Sendable {
    /// The body is not waiting.
    case held
    /// The body waits and keeps the permit, which the target does not need.
    case kept
    /// The body is about to lend the permit.
    case lending
    /// The permit is lent, or the body waits for the return of the permit.
    case lent
}

/// The use of an executing body's limits.
enum LimitUse: Sendable {
    /// The body has a permit of each limit.
    case held
    /// The body is about to lend the permits.
    case lending
    /// The permits are lent. The body needs them again before its next attempt.
    case lent
    /// The permits are lent, and the body waits for their return.
    case returning

    var isLent: Bool { self == .lent || self == .returning }
}
