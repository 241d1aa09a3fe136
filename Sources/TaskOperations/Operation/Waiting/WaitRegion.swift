/// The part of the wait graph whose ranks must be lowered so that an edge can be made.
final class WaitRegion {
    private struct Member {
        let node: WaitNode
        let edges: [WaitNode]
        /// The member from which the search reached this member; nil if the search reached it from the waiter.
        let parent: Int?
    }

    private var members: [Member] = []
    private var index: [ObjectIdentifier: Int] = [:]
    /// The targets of members that rank low enough.
    private var below: [(node: WaitNode, parent: Int?)] = []
    /// The edges that were read again, to be released with the region.
    private var looked: [[WaitNode]] = []

    /// Finds the nodes for which targets wait and whose ranks must be lowered below a bound together with the targets.
    ///
    /// - Returns: The path from one of the targets to the waiter; nil if there is none.
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
            // The ranks must be lowered below the threshold of this search. The next search goes twice as deep, so all
            // searches together are linear.
            threshold = bound - 4 * members.count - 16
            unexplored = below.filter { $0.node.rank >= threshold }
            below.removeAll { $0.node.rank >= threshold }
        }
    }

    /// Lowers the ranks of all members, beginning with members that others wait for. If another thread has changed the
    /// graph, some ranks remain.
    func sink(below bound: Int) {
        let order = waitedForFirst()
        var rank = lowest(below: bound)
        for member in order {
            if !members[member].node.lower(to: rank) { return }
            rank += 1
        }
    }

    /// Whether the nodes after the first still wait for each other, in this order.
    func isStill(_ path: [WaitNode]) -> Bool {
        zip(path, path.dropFirst()).dropFirst().allSatisfy { waiter, target in
            let edges = waiter.edges
            looked.append(edges)
            return edges.contains { $0.identity == target.identity }
        }
    }

    /// The rank of the lowest member after sinking. Above the highest member, as many ranks remain free as there are
    /// members.
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

    /// The members, each after all members that it waits for.
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
