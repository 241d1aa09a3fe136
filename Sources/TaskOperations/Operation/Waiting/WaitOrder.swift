import Synchronization

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
/// No lock is held during a search. A rank is lowered under the lock of its node, after the node's edges were read
/// again. An edge is added under the lock of its waiter, after both ranks were compared. The order therefore holds at
/// every moment. If two threads would close a cycle together, one of them finds that the rank of its waiter was
/// lowered. That thread searches again.
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
