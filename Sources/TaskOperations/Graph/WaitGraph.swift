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
        case .end(let scheduler): "the end of all operations in \(QueueLabel(scheduler))"
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

// MARK: - The order

/// The order of the wait graph. A node always ranks above all nodes for which it waits, so the graph contains no cycle.
/// An edge that would close a cycle is found before it is added.
///
/// An edge can be added if the waiter ranks above the target. Otherwise, the ranks of the target and of all nodes for
/// which it waits are lowered below the rank of the waiter. If the waiter is one of these nodes, the edge would close a
/// cycle.
///
/// Nearly all edges lead to older nodes and need no search. The ranks of n nodes are lowered by n more than necessary.
/// The next n edges of the same kind then need no search either.
///
/// No lock of a node is held during a search. A rank is lowered under the lock of its node, after the node's edges
/// were read again. An edge is added under the lock of its waiter, after both ranks were compared. The order therefore
/// holds at every moment. If two threads would close a cycle together, one of them finds that the rank of its waiter
/// was lowered. That thread searches again.
///
/// Two threads could revert each other's searches forever. After some attempts, such threads therefore search and add
/// their edges one after the other. `makeEdges` thus adds every edge that closes no cycle.
///
/// This is the algorithm of D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic
/// Graphs", ACM JEA 11, 2006. It searches only forward, so that a node need not know its waiters.
enum WaitOrder {
    /// Edges that are out of order, because the targets have the same rank as the waiter or higher ranks.
    typealias OrderViolation = (waiter: WaitNode, targets: [WaitNode])

    /// Makes edges. If the edges would close a cycle, returns the cycle instead, which begins and ends with the waiter.
    ///
    /// - Parameter attempt: Makes the edges under the lock of the waiter, if the waiter ranks above the targets.
    ///   Otherwise returns these edges. Throws an error if the waiter can have no more edges. Called once more after a
    ///   cycle was found, because the waiter may have started during the search. Must not perform the effects of the
    ///   edges, because a lock may be held during the call.
    static func makeEdges<Failure>(_ attempt: () throws(Failure) -> OrderViolation?) throws(Failure) -> [WaitNode]? {
        var cycle: [WaitNode]?
        for _ in 0..<3 {
            guard let orderViolation = try attempt() else { return nil }
            if let cycle { return cycle }
            cycle = sink(orderViolation, in: WaitRegion())
        }
        // The results of attempts and searches are freed after the lock is released.
        var found: [(OrderViolation, WaitRegion)] = []
        return try contended.withLock { _ throws(Failure) in
            while let orderViolation = try attempt() {
                let region = WaitRegion()
                found.append((orderViolation, region))
                if let cycle { return cycle }
                cycle = sink(orderViolation, in: region)
            }
            return nil
        }
    }

    /// Makes edges from one waiter. If the edges would close a cycle, returns the cycle instead.
    ///
    /// - Parameter make: Makes the edges under the lock of the waiter, if the waiter ranks above the targets. Otherwise
    ///   returns false.
    static func insert<Failure>(
        from waiter: WaitNode, to targets: [WaitNode], make: () throws(Failure) -> Bool
    ) throws(Failure) -> [WaitNode]? {
        try makeEdges { () throws(Failure) in try make() ? nil : (waiter, targets) }
    }

    /// Returns the nodes that wait for a target, directly or through other nodes. Takes linear time in the number of
    /// nodes that rank above the target and for which `nodes` wait.
    static func nodes(_ nodes: [WaitNode], waitingFor target: WaitNode) -> [WaitNode] {
        var isWaiting = [target.identity: true]
        for node in nodes where isWaiting[node.identity] == nil {
            var path: [(node: WaitNode, edges: [WaitNode])] = []
            func enter(_ node: WaitNode) {
                isWaiting[node.identity] = false
                // A node ranks above all nodes for which it waits.
                path.append((node, node.rank > target.rank ? node.edges : []))
            }
            enter(node)
            while let last = path.last {
                if let edge = path[path.count - 1].edges.popLast() {
                    if isWaiting[edge.identity] == nil { enter(edge) }
                    if isWaiting[edge.identity] == true { isWaiting[last.node.identity] = true }
                } else {
                    path.removeLast()
                    if isWaiting[last.node.identity] == true, let waiter = path.last {
                        isWaiting[waiter.node.identity] = true
                    }
                }
            }
        }
        return nodes.filter { isWaiting[$0.identity] == true && $0.identity != target.identity }
    }

    /// Held during a search and the next attempt by threads that have interfered with each other's searches.
    private static let contended = Lock(false)

    /// Lowers the ranks of targets below the rank of the waiter. If edges to these targets would close a cycle, returns
    /// the cycle instead.
    ///
    /// Another thread may lower the rank of the waiter immediately. The caller must therefore compare the ranks again,
    /// under the waiter's lock, before it makes an edge.
    private static func sink(_ orderViolation: OrderViolation, in region: WaitRegion) -> [WaitNode]? {
        let waiter = orderViolation.waiter
        let bound = waiter.rank
        let high = orderViolation.targets.filter { $0.rank >= bound }
        if high.allSatisfy({ $0.identity != waiter.identity && $0.lower(to: bound - 1) }) { return nil }
        if let path = region.explore(from: high, to: waiter, bound: bound) {
            return region.isStill([waiter] + path) ? [waiter] + path : nil
        }
        region.sink(below: bound)
        return nil
    }
}

/// The place of a node in the order of the wait graph. A node ranks above all nodes for which it waits.
///
/// A new operation ranks above all older operations, so that an edge to an older operation needs no work. After a node
/// has begun to wait for the operation, the operation's rank only decreases. A rank changes only under the lock that
/// guards the edges of its node. See `WaitOrder`.
struct Rank: ~Copyable, Sendable {
    private static let last = Atomic(0)

    private let atomic: Atomic<Int>

    /// Creates a rank above all existing ranks.
    init() { atomic = Atomic(Self.next()) }

    init(_ value: Int) { atomic = Atomic(value) }

    var value: Int { atomic.load(ordering: .acquiring) }

    /// Sets the rank. Call it under the lock that guards the edges of the node.
    func set(_ value: Int) { atomic.store(value, ordering: .releasing) }

    /// Returns a value above all existing ranks.
    static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}

/// The nodes whose ranks must be lowered so that an edge can be made.
final class WaitRegion {
    private struct Member {
        let node: WaitNode
        let edges: [WaitNode]
        /// The member from which the search reached this member; nil if the search reached it from the waiter.
        let parent: Int?
    }

    private var members: [Member] = []
    private var index: [ObjectIdentifier: Int] = [:]
    /// The nodes for which members wait and whose ranks are low enough.
    private var below: [(node: WaitNode, parent: Int?)] = []
    /// The edges that `isStill` has read. They are released together with the region.
    private var looked: [[WaitNode]] = []

    /// Finds the nodes whose ranks must be lowered below a bound. These are the targets, and nodes for which the
    /// targets wait.
    ///
    /// - Returns: The path from one of the targets to the waiter; nil if there is no such path.
    func explore(from targets: [WaitNode], to waiter: WaitNode, bound: Int) -> [WaitNode]? {
        var unexplored: [(node: WaitNode, parent: Int?)] = targets.map { ($0, nil) }
        var threshold = bound
        while true {
            while let (node, parent) = unexplored.popLast() {
                if node.identity == waiter.identity { return path(to: parent) + [waiter] }
                if index[node.identity] != nil { continue }
                if node.rank < threshold {
                    below.append((node, parent))
                    continue
                }
                index[node.identity] = members.count
                let edges = node.edges
                members.append(Member(node: node, edges: edges, parent: parent))
                for edge in edges { unexplored.append((edge, members.count - 1)) }
            }
            if lowest(below: bound) > threshold { return nil }
            // The ranks of the members must become lower than the threshold of this search. The next search therefore
            // goes twice as deep. All searches together take linear time.
            threshold = bound - 4 * members.count - 16
            unexplored = below.filter { $0.node.rank >= threshold }
            below.removeAll { $0.node.rank >= threshold }
        }
    }

    /// Lowers the ranks of all members. The rank of a member is lowered after the ranks of all members for which it
    /// waits. If another thread has changed the graph, some ranks are not lowered.
    func sink(below bound: Int) {
        let order = waitedForFirst()
        var rank = lowest(below: bound)
        for member in order {
            if !members[member].node.lower(to: rank) { return }
            rank += 1
        }
    }

    /// Whether each node after the first still waits for the next node.
    func isStill(_ path: [WaitNode]) -> Bool {
        zip(path, path.dropFirst()).dropFirst().allSatisfy { waiter, target in
            let edges = waiter.edges
            looked.append(edges)
            return edges.contains { $0.identity == target.identity }
        }
    }

    /// The lowest rank that `sink` gives to a member. The members then take the lower half of the ranks below the
    /// bound, and the upper half remains free.
    private func lowest(below bound: Int) -> Int { bound - 2 * members.count }

    private func path(to last: Int?) -> [WaitNode] {
        var path: [WaitNode] = []
        var step = last
        while let member = step {
            path.append(members[member].node)
            step = members[member].parent
        }
        return path.reversed()
    }

    /// The members in an order in which each member follows all members for which it waits.
    private func waitedForFirst() -> [Int] {
        var order: [Int] = []
        var isSeen = [Bool](repeating: false, count: members.count)
        var stack: [(member: Int, next: Int)] = []
        for start in members.indices where !isSeen[start] {
            isSeen[start] = true
            stack.append((start, 0))
            while let (member, next) = stack.last {
                guard next < members[member].edges.count else {
                    order.append(member)
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                if let other = index[members[member].edges[next].identity], !isSeen[other] {
                    isSeen[other] = true
                    stack.append((other, 0))
                }
            }
        }
        return order
    }
}
