@_spi(Lock) import TaskOperations

/// An operation that several requests share, and the priorities of these requests.
///
/// It does not depend on the type of the value, like all code that each request executes: the lookup of generic types
/// cost more than everything else.
final class SharedOperation: Sendable {
    /// The effect of a change, to perform with no lock held.
    enum Effect: Sendable {
        case none
        case setPriority
        case cancel
    }

    private struct Requesters: Sendable {
        /// The number of requests of each level.
        private var counts = SIMD8<Int32>()
        /// The highest level of the requests; nil after the last request was cancelled. From then on, no request can
        /// join.
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

    /// Adds a request. Returns false if the last request was cancelled before.
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

    /// Removes a request.
    func leave(from level: PriorityLevel) -> Effect {
        change { $0.remove(at: level) }
    }

    /// Changes the priority of a request.
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
            // This is done first, so that a later request creates a new operation.
            remove()
            operation.cancel()
        }
    }

    /// Sets the operation's priority to the highest of its requests. Other threads may call this at the same time, so
    /// the state is read again after the last change.
    private func setPriority() {
        while let level = requesters.withLock({ $0.highest }) {
            operation.priority = level.taskPriority
            if requesters.withLock({ $0.highest }) == level { return }
        }
    }
}
