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
