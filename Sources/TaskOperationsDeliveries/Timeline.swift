/// The times of numbered items, as a binary heap with the earliest time first. Setting and removing a time takes
/// O(log *n*) time.
struct Timeline: Sendable {
    private typealias Node = (time: Duration, number: Int)

    private var nodes: [Node] = []
    /// The position of each number in `nodes`.
    private var positions: [Int: Int] = [:]

    /// The earliest time. Of equal times, the one with the lowest number.
    var first: (time: Duration, number: Int)? { nodes.first }

    /// The time of an item; nil if it has none.
    subscript(number: Int) -> Duration? {
        get { positions[number].map { nodes[$0].time } }
        set {
            if let position = positions[number] { remove(at: position) }
            guard let newValue else { return }
            nodes.append((newValue, number))
            moveUp(from: nodes.count - 1)
        }
    }

    private mutating func remove(at position: Int) {
        positions[nodes[position].number] = nil
        let last = nodes.removeLast()
        if position == nodes.count { return }
        nodes[position] = last
        moveUp(from: position)
        moveDown(from: positions[last.number]!)
    }

    private mutating func moveUp(from start: Int) {
        let node = nodes[start]
        var position = start
        while position > 0, node < nodes[(position - 1) / 2] {
            put(nodes[(position - 1) / 2], at: position)
            position = (position - 1) / 2
        }
        put(node, at: position)
    }

    private mutating func moveDown(from start: Int) {
        let node = nodes[start]
        var position = start
        while let child = earlierChild(of: position), nodes[child] < node {
            put(nodes[child], at: position)
            position = child
        }
        put(node, at: position)
    }

    private func earlierChild(of position: Int) -> Int? {
        let left = 2 * position + 1
        if left >= nodes.count { return nil }
        return left + 1 < nodes.count && nodes[left + 1] < nodes[left] ? left + 1 : left
    }

    private mutating func put(_ node: Node, at position: Int) {
        nodes[position] = node
        positions[node.number] = position
    }
}
