/// An operation that several requesters share, and how urgent it is for them.
final class SharedOperation<Value: Sendable>: Sendable {
    private struct Requesters: Sendable {
        /// How many there are of each level.
        private var counts = SIMD8<Int32>()
        /// The last one has left: nobody can join any more.
        private(set) var isClosed = false

        var highest: PriorityLevel? { PriorityLevel.allCases.last { counts[Int($0.rawValue)] > 0 } }

        mutating func add(at level: PriorityLevel) { counts[Int(level.rawValue)] += 1 }

        mutating func remove(at level: PriorityLevel) {
            counts[Int(level.rawValue)] -= 1
            isClosed = highest == nil
        }
    }

    /// What follows from a change, to be done with no lock held.
    enum Effect: Sendable {
        case none
        case setPriority
        case cancel
    }

    let operation: TaskOperation<Value>
    private let requesters = Lock(Requesters())
    private let removeFromTable: @Sendable (SharedOperation<Value>) -> Void

    init(
        _ operation: TaskOperation<Value>, requestedAt level: PriorityLevel,
        removeFromTable: @escaping @Sendable (SharedOperation<Value>) -> Void
    ) {
        self.operation = operation
        self.removeFromTable = removeFromTable
        requesters.withLock { $0.add(at: level) }
    }

    func remove() { removeFromTable(self) }

    /// A requester comes. Returns false if it is too late for that.
    func join(at level: PriorityLevel) -> Bool {
        if operation.isFinished || operation.isCancelled { return false }
        let (hasJoined, effect) = requesters.withLock { requesters in
            if requesters.isClosed { return (false, Effect.none) }
            return (true, Self.change(&requesters) { $0.add(at: level) })
        }
        carryOut(effect)
        return hasJoined
    }

    /// A requester leaves.
    func leave(from level: PriorityLevel) -> Effect {
        requesters.withLock { requesters in
            Self.change(&requesters) { $0.remove(at: level) }
        }
    }

    /// It is of another urgency for a requester.
    func move(from former: PriorityLevel, to level: PriorityLevel) -> Effect {
        requesters.withLock { requesters in
            Self.change(&requesters) { requesters in
                requesters.add(at: level)
                requesters.remove(at: former)
            }
        }
    }

    private static func change(_ requesters: inout Requesters, _ change: (inout Requesters) -> Void) -> Effect {
        let before = requesters.highest
        change(&requesters)
        if requesters.isClosed { return .cancel }
        return requesters.highest == before ? .none : .setPriority
    }

    func carryOut(_ effect: Effect) {
        switch effect {
        case .none: break
        case .setPriority: setPriority()
        case .cancel:
            // First of all, so that a request which comes now begins anew.
            remove()
            operation.cancel()
        }
    }

    /// Others may do so at the same time: whatever is set last is looked at again.
    private func setPriority() {
        while let level = requesters.withLock({ $0.highest }) {
            operation.priority = level.taskPriority
            if requesters.withLock({ $0.highest }) == level { return }
        }
    }
}
