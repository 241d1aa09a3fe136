/// Orders the nodes of a graph of uses, in time linear in the number of edges.
struct Waves {
    struct Edge: Equatable {
        let from: Int
        let to: Int
        /// The number of names in one node that refer to the other.
        let count: Int
    }

    /// The strongly connected components of the graph, each after the components that it uses.
    private(set) var components: [[Int]] = []
    private var componentOf: [Int]
    /// The wave of each node, from 1; 0 for a node that does not count. No node uses a node of an earlier wave. Only
    /// nodes of its own component use a node of the first wave.
    private(set) var wave: [Int]
    /// The layer of each node, from 1. The nodes of the first layer use no other nodes.
    private(set) var layer: [Int]

    private let edges: [[Int: Int]]
    private let counts: [Bool]

    /// - Parameters:
    ///   - edges: For each node, the nodes that it uses, and the number of uses.
    ///   - counts: Whether each node has findings that have to move. Nodes without such findings get no wave: they only connect uses.
    init(edges: [[Int: Int]], counts: [Bool]) {
        self.edges = edges
        self.counts = counts
        componentOf = [Int](repeating: -1, count: edges.count)
        wave = [Int](repeating: 0, count: edges.count)
        layer = [Int](repeating: 0, count: edges.count)
        findComponents()
        findLevels()
    }

    /// The rings: components of more than one node that counts, each with the edges whose removal opens it.
    var rings: [(members: [Int], cuts: [Edge])] {
        components.compactMap { members in
            guard members.filter({ counts[$0] }).count > 1 else { return nil }
            let cuts =
                members.count > Self.largestOrdered ? cheapestEdge(in: members).map { [$0] } ?? [] : cuts(of: members)
            return (members.sorted(), cuts)
        }
    }

    /// The maximum size of a component for which all edges of a cut are searched, which takes quadratic time. For a
    /// larger component, one edge is searched.
    private static let largestOrdered = 512

    /// A small set of edges with few uses whose removal leaves no ring: the edges that point backwards in an order of
    /// the nodes, found by the heuristic of Eades, Lin and Smyth (1993).
    private func cuts(of members: [Int]) -> [Edge] {
        var rest = Set(members)
        var (first, last): ([Int], [Int]) = ([], [])
        func outgoing(_ node: Int) -> Int { edges[node].reduce(0) { $0 + (rest.contains($1.key) ? $1.value : 0) } }
        func incoming(_ node: Int) -> Int { rest.reduce(0) { $0 + (edges[$1][node] ?? 0) } }
        while !rest.isEmpty {
            let weights = rest.sorted().map { (node: $0, out: outgoing($0), in: incoming($0)) }
            if let sink = weights.first(where: { $0.out == 0 }) {
                last.append(sink.node)
                rest.remove(sink.node)
            } else {
                let next = weights.first { $0.in == 0 } ?? weights.max { $0.out - $0.in < $1.out - $1.in }!
                first.append(next.node)
                rest.remove(next.node)
            }
        }
        let places = Dictionary(uniqueKeysWithValues: (first + last.reversed()).enumerated().map { ($1, $0) })
        return members.flatMap { member in
            edges[member].compactMap { target, count in
                guard let place = places[target], place < places[member]! else { return nil }
                return Edge(from: member, to: target, count: count)
            }
        }.sorted { ($0.count, $0.from, $0.to) < ($1.count, $1.from, $1.to) }
    }

    /// The edge within a component that has the fewest uses.
    private func cheapestEdge(in members: [Int]) -> Edge? {
        let component = componentOf[members[0]]
        var best: Edge?
        for member in members.sorted() {
            for (target, count) in edges[member].sorted(by: { $0.key < $1.key })
            where target != member && componentOf[target] == component {
                if best == nil || count < best!.count { best = Edge(from: member, to: target, count: count) }
            }
        }
        return best
    }

    /// Finds strongly connected components with Tarjan's algorithm (1972), on an explicit stack.
    private mutating func findComponents() {
        let count = edges.count
        var number = 0
        var order = [Int](repeating: -1, count: count)
        var low = [Int](repeating: 0, count: count)
        var isOnStack = [Bool](repeating: false, count: count)
        var stack: [Int] = []
        for root in 0..<count where order[root] < 0 {
            var work: [(node: Int, targets: [Int], next: Int)] = []
            func enter(_ node: Int) {
                order[node] = number
                low[node] = number
                number += 1
                stack.append(node)
                isOnStack[node] = true
                work.append((node, edges[node].keys.sorted(), 0))
            }
            enter(root)
            while let top = work.last {
                if top.next < top.targets.count {
                    work[work.count - 1].next += 1
                    let target = top.targets[top.next]
                    if order[target] < 0 {
                        enter(target)
                    } else if isOnStack[target] {
                        low[top.node] = min(low[top.node], order[target])
                    }
                    continue
                }
                work.removeLast()
                if let parent = work.last?.node { low[parent] = min(low[parent], low[top.node]) }
                guard low[top.node] == order[top.node] else { continue }
                var members: [Int] = []
                repeat {
                    let member = stack.removeLast()
                    isOnStack[member] = false
                    componentOf[member] = components.count
                    members.append(member)
                } while members.last != top.node
                components.append(members)
            }
        }
    }

    /// Computes waves and layers. Components are ordered after the components that they use; layers are computed
    /// forwards, waves backwards.
    private mutating func findLevels() {
        var layers = [Int](repeating: 0, count: components.count)
        var waves = [Int](repeating: 0, count: components.count)
        for (component, members) in components.enumerated() {
            for member in members {
                for target in edges[member].keys where componentOf[target] != component {
                    layers[component] = max(layers[component], layers[componentOf[target]])
                }
            }
            if members.contains(where: { counts[$0] }) { layers[component] += 1 }
        }
        for (component, members) in components.enumerated().reversed() {
            if members.contains(where: { counts[$0] }) { waves[component] += 1 }
            for member in members {
                for target in edges[member].keys where componentOf[target] != component {
                    waves[componentOf[target]] = max(waves[componentOf[target]], waves[component])
                }
            }
        }
        for node in edges.indices where counts[node] {
            layer[node] = layers[componentOf[node]]
            wave[node] = waves[componentOf[node]]
        }
    }
}
