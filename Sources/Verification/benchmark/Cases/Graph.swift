import Simulation

/// The dependencies between numbered operations. The predecessors of an operation have lower numbers.
struct Graph: Sendable {
    private var ends: [Int] = []
    private var predecessors: [Int32] = []

    var count: Int { ends.count }

    func predecessors(of node: Int) -> ArraySlice<Int32> {
        predecessors[(node == 0 ? 0 : ends[node - 1])..<ends[node]]
    }

    /// - Parameter predecessors: Returns the predecessors of an operation. Called in the order of the numbers.
    init(_ count: Int, predecessors: (Int) -> some Sequence<Int>) {
        ends.reserveCapacity(count)
        for node in 0..<count {
            for predecessor in predecessors(node) { self.predecessors.append(Int32(predecessor)) }
            ends.append(self.predecessors.count)
        }
    }
}

// MARK: - Shapes

extension Graph {
    static func chain(_ count: Int) -> Graph {
        Graph(count) { node in node == 0 ? 0..<0 : (node - 1)..<node }
    }

    /// All other operations depend on the first.
    static func fanOut(_ count: Int) -> Graph {
        Graph(count) { node in 0..<(node == 0 ? 0 : 1) }
    }

    /// The last operation depends on all others.
    static func fanIn(_ count: Int) -> Graph {
        Graph(count) { node in 0..<(node == count - 1 ? node : 0) }
    }

    /// A hundred layers. Each operation depends on eight operations of the previous layer.
    static func layers(_ count: Int) -> Graph {
        let width = max(8, count / 100)
        return Graph(count) { node -> [Int] in
            let layer = node / width
            if layer == 0 { return [] }
            return (0..<8).map { (layer - 1) * width + (node + $0 * (width / 8)) % width }
        }
    }

    /// Each operation depends on up to four random earlier operations.
    static func random(_ count: Int) -> Graph {
        var random = SeededChoices(seed: 42)
        return Graph(count) { node -> [Int] in
            if node == 0 { return [] }
            return (0..<Int.random(in: 0...4, using: &random)).map { _ in Int.random(in: 0..<node, using: &random) }
        }
    }
}
