/// The order of the wait graph, by which a cycle is found where it would be closed: a node ranks above everything that
/// it waits for, always, so there is no cycle.
///
/// An edge may be made as soon as the waiter ranks above the target. If it does not, the target sinks below the waiter,
/// with everything that the target waits for. If the waiter is among that, the edge would close a cycle. Edges to
/// something older, which are nearly all, need no search; and what has sunk once need not sink for the next edge of the
/// same kind: a region of n nodes sinks by n more than it has to, so that the next n ranks find it in place.
///
/// No lock is held over a search. A rank is lowered under the lock of its node, after a look at what the node waits
/// for; an edge is made under the lock of its waiter, after a look at both ranks. So the order holds at every moment,
/// and of two threads that would close a cycle together one finds its waiter sunk, and searches again. Only then, and
/// after some attempts, do such threads search one after the other.
///
/// The incremental order is that of D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed
/// Acyclic Graphs", ACM JEA 11, 2006, with a forward search only: the waiters of a node need not be known.
enum WaitOrder {
    /// Makes an edge, or returns the cycle that it would close, beginning and ending with the waiter.
    ///
    /// - Parameter make: Makes the edge under the lock of the waiter, if the waiter ranks above the targets. Otherwise
    ///   returns false.
    static func insert<Failure>(
        from waiter: WaitNode, to targets: [WaitNode], make: () throws(Failure) -> Bool
    ) throws(Failure) -> [WaitNode]? {
        for _ in 0..<3 {
            if let cycle = sink(targets, below: waiter) { return cycle }
            if try make() { return nil }
        }
        // What the searches found is freed after the lock is left.
        var regions: [WaitRegion] = []
        return try contended.withLock { _ throws(Failure) in
            while true {
                let region = WaitRegion()
                regions.append(region)
                if let cycle = sink(targets, below: waiter, in: region) { return cycle }
                if try make() { return nil }
            }
        }
    }

    /// Held over a search by threads that have disturbed each other's, and by nobody else.
    private static let contended = Lock(false)

    /// Has the targets rank below the waiter; or returns the cycle that edges to them would close.
    ///
    /// Other threads may undo it at once, by lowering the waiter: an edge needs another look, under the waiter's lock.
    static func sink(_ targets: [WaitNode], below waiter: WaitNode) -> [WaitNode]? {
        sink(targets, below: waiter, in: WaitRegion())
    }

    private static func sink(
        _ targets: [WaitNode], below waiter: WaitNode, in region: @autoclosure () -> WaitRegion
    ) -> [WaitNode]? {
        let bound = waiter.rank
        let high = targets.filter { $0.rank >= bound }
        if high.allSatisfy({ $0.identity != waiter.identity && $0.lower(to: bound - 1) }) { return nil }
        let region = region()
        if let path = region.explore(from: high, to: waiter, bound: bound) {
            return region.isStill([waiter] + path) ? [waiter] + path : nil
        }
        region.sink(below: bound)
        return nil
    }
}
