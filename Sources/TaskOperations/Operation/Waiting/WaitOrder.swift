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
/// and of two threads that would close a cycle together one finds its waiter sunk, and searches again. Each of them could
/// undo the other's search for ever. After some attempts, such threads therefore search and make their edges one after
/// the other: every edge is made by `makeEdges`.
///
/// The incremental order is that of D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed
/// Acyclic Graphs", ACM JEA 11, 2006, with a forward search only: the waiters of a node need not be known.
enum WaitOrder {
    /// Edges that are out of order: the targets do not rank below the waiter.
    typealias Disorder = (waiter: WaitNode, targets: [WaitNode])

    /// Makes edges, or returns the cycle that they would close, beginning and ending with the waiter.
    ///
    /// - Parameter attempt: Makes the edges under the lock of the waiter, if the waiter ranks above the targets. Otherwise
    ///   returns them. Throws an error if the waiter can get no edges any more. `makeEdges` asks it once more after a cycle
    ///   was found, since the waiter may have started during the search. Must not perform the effects of the edges: it may
    ///   be called with a lock held.
    static func makeEdges<Failure>(_ attempt: () throws(Failure) -> Disorder?) throws(Failure) -> [WaitNode]? {
        var cycle: [WaitNode]?
        for _ in 0..<3 {
            guard let disorder = try attempt() else { return nil }
            if let cycle { return cycle }
            cycle = sink(disorder, in: WaitRegion())
        }
        // What attempts and searches found is freed after the lock is left.
        var found: [(Disorder, WaitRegion)] = []
        return try contended.withLock { _ throws(Failure) in
            while let disorder = try attempt() {
                let region = WaitRegion()
                found.append((disorder, region))
                if let cycle { return cycle }
                cycle = sink(disorder, in: region)
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

    /// Held by threads that have disturbed each other's searches, over a search and the attempt after it.
    private static let contended = Lock(false)

    /// Has targets rank below the waiter; or returns the cycle that edges to them would close.
    ///
    /// Other threads may undo it at once, by lowering the waiter: an edge needs another look, under the waiter's lock.
    private static func sink(_ disorder: Disorder, in region: WaitRegion) -> [WaitNode]? {
        let waiter = disorder.waiter
        let bound = waiter.rank
        let high = disorder.targets.filter { $0.rank >= bound }
        if high.allSatisfy({ $0.identity != waiter.identity && $0.lower(to: bound - 1) }) { return nil }
        if let path = region.explore(from: high, to: waiter, bound: bound) {
            return region.isStill([waiter] + path) ? [waiter] + path : nil
        }
        region.sink(below: bound)
        return nil
    }
}
