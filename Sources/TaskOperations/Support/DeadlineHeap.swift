/// An object that waits for a deadline.
protocol DeadlineTarget: AnyObject, Sendable {
    /// The place of the object's deadline in a heap; nil if the object has no deadline. Only `DeadlineHeap` sets this
    /// property. The lock of `Deadlines` is held during each access.
    var deadlinePlace: DeadlinePlace? { get set }

    /// Called after the deadline has passed, with no lock held.
    func deadlinePassed()
}

/// The place of a deadline: the number of its clock, and its position in the clock's heap.
struct DeadlinePlace: Hashable, Sendable {
    /// All numbers of clocks are less than this limit.
    static var clockLimit: UInt8 { .max }

    let clock: UInt8
    var position: Int32
}

/// A binary heap of the deadlines of one clock, earliest first. Equal deadlines are in the order of their addition.
/// Each target stores the position of its deadline, so that the heap can remove any deadline.
///
/// Adding or removing a deadline takes O(log *n*) time. A deadline is a duration since a fixed moment of the clock. The
/// heap frees memory when it uses less than a quarter of its capacity.
struct DeadlineHeap: Sendable {
    private struct Node {
        let deadline: Duration
        let target: any DeadlineTarget
        let number: UInt32

        /// Numbers wrap around. For this reason, the function tests their distance, which must be less than
        /// 2,147,483,648.
        func isBefore(_ other: Node) -> Bool {
            if deadline != other.deadline { return deadline < other.deadline }
            return Int32(bitPattern: number &- other.number) < 0
        }
    }

    private let clock: UInt8
    private var nodes: [Node] = []
    private var lastNumber: UInt32 = 0

    /// - Parameter clock: The number of the clock.
    init(clock: UInt8) {
        self.clock = clock
    }

    var isEmpty: Bool { nodes.isEmpty }

    var count: Int { nodes.count }

    /// The number of deadlines for which memory is allocated.
    var capacity: Int { nodes.capacity }

    var earliest: Duration? { nodes.first?.deadline }

    mutating func insert(_ target: any DeadlineTarget, at deadline: Duration) {
        lastNumber &+= 1
        if nodes.count == nodes.capacity { nodes.reserveCapacity(max(16, nodes.count + nodes.count / 2)) }
        nodes.append(Node(deadline: deadline, target: target, number: lastNumber))
        moveUp(nodes.count - 1)
    }

    /// Removes the deadline of a target. Returns false if the heap does not contain this deadline.
    mutating func remove(_ target: any DeadlineTarget) -> Bool {
        guard let place = target.deadlinePlace, place.clock == clock else { return false }
        _ = remove(at: Int(place.position))
        return true
    }

    /// If the earliest deadline is at or before a moment, removes the deadline and returns its target. Otherwise
    /// returns nil.
    mutating func popFirst(until moment: Duration) -> (any DeadlineTarget)? {
        guard let first = nodes.first, first.deadline <= moment else { return nil }
        return remove(at: 0)
    }

    private mutating func remove(at position: Int) -> any DeadlineTarget {
        let removed = nodes[position].target
        let last = nodes.removeLast()
        if position < nodes.count {
            nodes[position] = last
            if position > 0, last.isBefore(nodes[(position - 1) / 2]) { moveUp(position) } else { moveDown(position) }
        }
        removed.deadlinePlace = nil
        if nodes.capacity > 64, nodes.count < nodes.capacity / 4 { nodes = nodes.map { $0 } }
        return removed
    }

    private mutating func moveUp(_ start: Int) {
        let node = nodes[start]
        var position = start
        while position > 0, node.isBefore(nodes[(position - 1) / 2]) {
            put(nodes[(position - 1) / 2], at: position)
            position = (position - 1) / 2
        }
        put(node, at: position)
    }

    private mutating func moveDown(_ start: Int) {
        let node = nodes[start]
        var position = start
        while let child = earlierChild(of: position), nodes[child].isBefore(node) {
            put(nodes[child], at: position)
            position = child
        }
        put(node, at: position)
    }

    private func earlierChild(of position: Int) -> Int? {
        let left = 2 * position + 1
        if left >= nodes.count { return nil }
        return left + 1 < nodes.count && nodes[left + 1].isBefore(nodes[left]) ? left + 1 : left
    }

    private mutating func put(_ node: Node, at position: Int) {
        nodes[position] = node
        node.target.deadlinePlace = DeadlinePlace(clock: clock, position: Int32(position))
    }
}
