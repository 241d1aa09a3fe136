/// The order of the wait graph. A node always ranks above all nodes for which it waits, so there is no cycle. An edge
/// that would close one is found when it is added.
///
/// An edge can be added if the waiter ranks above the target. Otherwise the ranks of the target, and of all nodes for
/// which the target waits, are lowered below the waiter. If the waiter is one of these nodes, the edge would close a
/// cycle. Edges to older nodes, which are nearly all, need no search. A region of n nodes is lowered by n more than
/// necessary, so that the next n edges of the same kind need no search either.
///
/// No lock is held during a search. A rank is lowered under the lock of its node, after its edges were read again. An
/// edge is added under the lock of its waiter, after both ranks were compared. So the order holds at every moment. If
/// two threads would close a cycle together, one finds its waiter lowered and searches again. Without a limit, each
/// thread could revert the other's search forever. After some attempts, such threads search and add their edges one
/// after the other: `makeEdges` adds every edge.
///
/// The incremental order is that of D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed
/// Acyclic Graphs", ACM JEA 11, 2006, with a forward search only: the waiters of a node need not be known.
enum WaitOrder {
    /// Edges that are out of order: the targets do not rank below the waiter.
    typealias OrderViolation = (waiter: WaitNode, targets: [WaitNode])

    /// Makes edges, or returns the cycle that they would close, beginning and ending with the waiter.
    ///
    /// - Parameter attempt: Makes the edges under the lock of the waiter, if the waiter ranks above the targets.
    ///   Otherwise returns them. Throws an error if the waiter can no longer get edges. After a cycle was found, it is
    ///   called once more, because the waiter may have started during the search. Must not perform the effects of the
    ///   edges, because it may be called with a lock held.
    static func makeEdges<Failure>(_ attempt: () throws(Failure) -> OrderViolation?) throws(Failure) -> [WaitNode]? {
        var cycle: [WaitNode]?
        for _ in 0..<3 {
            guard let orderViolation = try attempt() else { return nil }
            if let cycle { return cycle }
            cycle = sink(orderViolation, in: WaitRegion())
        }
        // The results of attempts and searches are released after the lock.
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

    /// Makes edges from one waiter, or returns the cycle that they would close.
    ///
    /// - Parameter make: Makes the edges under the lock of the waiter, if the waiter ranks above the targets. Otherwise
    ///   returns false.
    static func insert<Failure>(
        from waiter: WaitNode, to targets: [WaitNode], make: () throws(Failure) -> Bool
    ) throws(Failure) -> [WaitNode]? {
        try makeEdges { () throws(Failure) in try make() ? nil : (waiter, targets) }
    }

    /// Held during a search and the following attempt, by threads that have interfered with each other's searches.
    private static let contended = Lock(false)

    /// Lowers the ranks of targets below the rank of the waiter, or returns the cycle that edges to them would close.
    ///
    /// Another thread may lower the waiter at once. So the ranks must be compared again, under the waiter's lock,
    /// before an edge is made.
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
