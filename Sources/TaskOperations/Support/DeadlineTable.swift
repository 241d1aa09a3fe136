/// The deadlines of all clocks, and the state of the sleepers. A sleeper is a task that sleeps until the earliest
/// deadline of a clock.
///
/// The table is a pure value that makes all decisions about deadlines. `Deadlines` performs the effects of these decisions.
struct DeadlineTable: Sendable {
    /// A sleeper that the caller must start.
    struct NewSleeper: Sendable {
        let clock: UInt8
        let face: ClockFace
        let number: UInt64
        /// The previous sleeper of the clock, which the caller must cancel; nil if there is none.
        let replaced: Task<Void, Never>?
    }

    enum Addition: Sendable {
        /// The deadline was added. If there is a sleeper, the caller must start it.
        case added(NewSleeper?)
        /// The deadline was not added, because the clock was forgotten and registered again.
        case faceIsStale
        case tooManyClocks
    }

    enum Next: Sendable {
        case tell([any DeadlineTarget])
        case sleep(until: Duration)
        case end
    }

    private struct Clock: Sendable {
        let face: ClockFace
        let key: ClockKey
        var heap: DeadlineHeap
        /// The number of the sleeper; 0 if there is none. A sleeper with an earlier number ends when it calls `next`.
        var sleeper: UInt64 = 0
        /// The task of the sleeper; nil until `setTask` is called.
        var task: Task<Void, Never>?
        /// The end of the current sleep; nil if the sleeper is awake. A sleeper that is awake calls `next`, which finds
        /// new deadlines.
        var sleepsUntil: Duration?
    }

    /// The clock of each number; nil if the number is free.
    private var clocks: [Clock?] = []
    private var numbers: [ClockKey: UInt8] = [:]
    private var lastSleeper: UInt64 = 0
    /// The clock that was used last; nil if it was forgotten. The next deadline usually has the same clock.
    private var recent: (key: ClockKey, number: UInt8)?

    /// The maximum number of deadlines that `next` returns at once. It limits the time for which the lock is held.
    private static var batchCount: Int { 64 }

    /// The number of pending deadlines.
    var count: Int { clocks.reduce(0) { $0 + ($1?.heap.count ?? 0) } }

    /// Returns the face of a clock that has deadlines; nil for other clocks.
    mutating func face(for key: ClockKey) -> ClockFace? {
        number(of: key).map { clocks[Int($0)]!.face }
    }

    mutating func add(
        _ target: any DeadlineTarget, at deadline: Duration, on face: ClockFace, _ key: ClockKey
    ) -> Addition {
        guard let number = number(of: key) ?? addClock(face, key) else { return .tooManyClocks }
        let index = Int(number)
        guard clocks[index]!.face === face else { return .faceIsStale }
        clocks[index]!.heap.insert(target, at: deadline)
        let isAwake = clocks[index]!.sleeper != 0 && clocks[index]!.sleepsUntil == nil
        if isAwake { return .added(nil) }
        if let end = clocks[index]!.sleepsUntil, end <= deadline { return .added(nil) }
        return .added(newSleeper(for: number))
    }

    /// Removes the deadline of a target. If no sleeper of its clock is needed any more, returns the task that the caller
    /// must cancel, and the face of the clock. The caller must release the face after unlocking.
    mutating func remove(_ target: any DeadlineTarget) -> (task: Task<Void, Never>?, face: ClockFace?) {
        guard let index = target.deadlinePlace.map({ Int($0.clock) }) else { return (nil, nil) }
        _ = clocks[index]!.heap.remove(target)
        // Operations with timeouts often come one after the other. A new sleeper for each costs 5,000 instructions.
        guard clocks[index]!.heap.isEmpty, !clocks[index]!.key.isOfSystem else { return (nil, nil) }
        let clock = forgetClock(index)
        return (clock.task, clock.face)
    }

    /// Stores the task of a sleeper. Returns false if the sleeper is no longer needed.
    mutating func setTask(_ task: Task<Void, Never>, of sleeper: NewSleeper) -> Bool {
        guard isCurrent(sleeper) else { return false }
        clocks[Int(sleeper.clock)]!.task = task
        return true
    }

    /// Returns the next step of a sleeper.
    ///
    /// - Parameter now: The current moment of the sleeper's clock.
    mutating func next(for sleeper: NewSleeper, at now: Duration) -> Next {
        guard isCurrent(sleeper) else { return .end }
        let index = Int(sleeper.clock)
        var due: [any DeadlineTarget] = []
        while due.count < Self.batchCount, let target = clocks[index]!.heap.popFirst(until: now) { due.append(target) }
        clocks[index]!.sleepsUntil = nil
        if !due.isEmpty { return .tell(due) }
        guard let earliest = clocks[index]!.heap.earliest else {
            _ = forgetClock(index)
            return .end
        }
        clocks[index]!.sleepsUntil = earliest
        return .sleep(until: earliest)
    }

    private mutating func number(of key: ClockKey) -> UInt8? {
        if let recent, recent.key == key { return recent.number }
        recent = numbers[key].map { (key, $0) }
        return recent?.number
    }

    private func isCurrent(_ sleeper: NewSleeper) -> Bool {
        clocks[Int(sleeper.clock)]?.sleeper == sleeper.number
    }

    private mutating func newSleeper(for number: UInt8) -> NewSleeper {
        lastSleeper += 1
        let index = Int(number)
        let replaced = clocks[index]!.task.take()
        clocks[index]!.sleeper = lastSleeper
        clocks[index]!.sleepsUntil = nil
        return NewSleeper(clock: number, face: clocks[index]!.face, number: lastSleeper, replaced: replaced)
    }

    private mutating func addClock(_ face: ClockFace, _ key: ClockKey) -> UInt8? {
        let index = clocks.firstIndex { $0 == nil } ?? clocks.count
        guard index < DeadlinePlace.clockLimit else { return nil }
        let number = UInt8(index)
        if index == clocks.count { clocks.append(nil) }
        clocks[index] = Clock(face: face, key: key, heap: DeadlineHeap(clock: number))
        numbers[key] = number
        return number
    }

    private mutating func forgetClock(_ index: Int) -> Clock {
        let clock = clocks[index].take()!
        numbers[clock.key] = nil
        recent = nil
        return clock
    }
}

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
        let order: Order
        let target: any DeadlineTarget
    }

    private struct Order {
        let deadline: Duration
        let number: UInt32

        /// Numbers wrap around. For this reason, the function tests their distance, which must be less than
        /// 2,147,483,648.
        func isBefore(_ other: Self) -> Bool {
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

    var earliest: Duration? { nodes.first?.order.deadline }

    mutating func insert(_ target: any DeadlineTarget, at deadline: Duration) {
        lastNumber &+= 1
        if nodes.count == nodes.capacity { nodes.reserveCapacity(max(16, nodes.count + nodes.count / 2)) }
        nodes.append(Node(order: Order(deadline: deadline, number: lastNumber), target: target))
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
        guard let first = nodes.first, first.order.deadline <= moment else { return nil }
        return remove(at: 0)
    }

    private mutating func remove(at position: Int) -> any DeadlineTarget {
        let removed = nodes[position].target
        let last = nodes.removeLast()
        if position < nodes.count {
            nodes[position] = last
            let isEarlier = position > 0 && last.order.isBefore(nodes[(position - 1) / 2].order)
            if isEarlier { moveUp(position) } else { moveDown(position) }
        }
        removed.deadlinePlace = nil
        if nodes.capacity > 64, nodes.count < nodes.capacity / 4 { nodes = nodes.map { $0 } }
        return removed
    }

    private mutating func moveUp(_ start: Int) {
        withNodes { nodes, clock in
            let node = (nodes + start).move()
            let order = node.order
            var position = start
            while position > 0, order.isBefore(nodes[(position - 1) / 2].order) {
                Self.move((position - 1) / 2, to: position, in: nodes, clock)
                position = (position - 1) / 2
            }
            Self.put(node, at: position, in: nodes, clock)
        }
    }

    /// Moves the node down to a leaf, and from there up. The node was the last one, and therefore usually belongs near
    /// the leaves: a comparison with the node at each level would double the number of comparisons (Wegener 1993,
    /// bottom-up heapsort).
    private mutating func moveDown(_ start: Int) {
        let count = nodes.count
        var position = start
        withNodes { nodes, clock in
            let node = (nodes + start).move()
            while true {
                var child = 2 * position + 1
                if child >= count { break }
                if child + 1 < count, nodes[child + 1].order.isBefore(nodes[child].order) { child += 1 }
                Self.move(child, to: position, in: nodes, clock)
                position = child
            }
            Self.put(node, at: position, in: nodes, clock)
        }
        moveUp(position)
    }

    // Nodes are moved in memory. Copies, which count references, took two thirds of the time of a removal.

    private mutating func withNodes(_ body: (UnsafeMutablePointer<Node>, UInt8) -> Void) {
        nodes.withUnsafeMutableBufferPointer { [clock] nodes in body(nodes.baseAddress!, clock) }
    }

    /// Moves a node to a position whose memory holds no node.
    private static func move(_ source: Int, to position: Int, in nodes: UnsafeMutablePointer<Node>, _ clock: UInt8) {
        (nodes + position).moveInitialize(from: nodes + source, count: 1)
        nodes[position].target.deadlinePlace = DeadlinePlace(clock: clock, position: Int32(position))
    }

    /// Puts a node into memory that holds no node.
    private static func put(
        _ node: consuming Node, at position: Int, in nodes: UnsafeMutablePointer<Node>, _ clock: UInt8
    ) {
        (nodes + position).initialize(to: node)
        nodes[position].target.deadlinePlace = DeadlinePlace(clock: clock, position: Int32(position))
    }
}
