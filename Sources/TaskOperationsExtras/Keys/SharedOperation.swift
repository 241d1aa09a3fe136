@_spi(Lock) import TaskOperations

/// An operation that several requesters share, and how urgent it is for them.
///
/// Without the type of its value, as are all parts of keyed operations that each request goes through: looking types up
/// cost more than all the rest.
final class SharedOperation: Sendable {
    /// The effect of a change, to perform with no lock held.
    enum Effect: Sendable {
        case none
        case setPriority
        case cancel
    }

    private struct Requesters: Sendable {
        /// How many there are of each level.
        private var counts = SIMD8<Int32>()
        /// The highest level of the requests; nil after the last one was cancelled, when no request can join any more.
        private(set) var highest: PriorityLevel?

        init(level: PriorityLevel) {
            highest = level
            add(at: level)
        }

        mutating func add(at level: PriorityLevel) {
            counts[Int(level.rawValue)] += 1
            if let former = highest, former < level { highest = level }
        }

        mutating func remove(at level: PriorityLevel) {
            counts[Int(level.rawValue)] -= 1
            if counts[Int(level.rawValue)] > 0 || level != highest { return }
            highest = nil
            for rawValue in 0..<level.rawValue where counts[Int(rawValue)] > 0 {
                highest = PriorityLevel(rawValue: rawValue)
            }
        }
    }

    let operation: AnyTaskOperation
    private let requesters: Lock<Requesters>
    private let removeFromTable: @Sendable (SharedOperation) -> Void

    init(
        _ operation: AnyTaskOperation, requestedAt level: PriorityLevel,
        removeFromTable: @escaping @Sendable (SharedOperation) -> Void
    ) {
        self.operation = operation
        self.removeFromTable = removeFromTable
        requesters = Lock(Requesters(level: level))
    }

    func remove() { removeFromTable(self) }

    /// Adds a request. Returns false if it is too late.
    func join(at level: PriorityLevel) -> Bool {
        if operation.isFinishedOrCancelled { return false }
        let (hasJoined, hasRisen) = requesters.withLock { requesters in
            guard let before = requesters.highest else { return (false, false) }
            requesters.add(at: level)
            return (true, before < level)
        }
        if hasRisen { setPriority() }
        return hasJoined
    }

    /// A requester leaves.
    func leave(from level: PriorityLevel) -> Effect {
        change { $0.remove(at: level) }
    }

    /// It is of another urgency for a requester.
    func move(from former: PriorityLevel, to level: PriorityLevel) -> Effect {
        change { requesters in
            requesters.add(at: level)
            requesters.remove(at: former)
        }
    }

    private func change(_ change: (inout Requesters) -> Void) -> Effect {
        requesters.withLock { requesters in
            let before = requesters.highest
            change(&requesters)
            if requesters.highest == nil { return .cancel }
            return requesters.highest == before ? .none : .setPriority
        }
    }

    func carryOut(_ effect: Effect) {
        switch effect {
        case .none: break
        case .setPriority: setPriority()
        case .cancel:
            // First, so that a request from now on creates a new operation.
            remove()
            operation.cancel()
        }
    }

    /// Other threads may do so at the same time: after the last change, the state is read again.
    private func setPriority() {
        while let level = requesters.withLock({ $0.highest }) {
            operation.priority = level.taskPriority
            if requesters.withLock({ $0.highest }) == level { return }
        }
    }
}
