import Synchronization
import TaskOperations

/// An operation that several requests share, and the priorities of these requests.
///
/// This class is not generic over the type of the value. Looking up generic types took most of the time of a request.
final class SharedOperation: Sendable {
    /// The effect of a change. The caller performs the effect after unlocking.
    enum Effect: Sendable {
        case none
        case setPriority
        case cancel
    }

    private struct Requesters: Sendable {
        /// The number of requests of each level.
        private var counts = SIMD8<Int32>()
        /// The highest level of the requests; nil after the last request was cancelled. Then no further request can
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
    /// The body, which can be replaced; nil if a closure has created the operation.
    let body: (any AnyObject & Sendable)?
    /// The pause before the start; nil if the operation has none.
    let pause: SettlingPause?
    private let requesters: Lock<Requesters>
    private let removeFromTable: @Sendable (AnyTaskOperation) -> Void

    init(
        _ operation: AnyTaskOperation, requestedAt level: PriorityLevel, body: (any AnyObject & Sendable)?,
        pause: SettlingPause?, removeFromTable: @escaping @Sendable (AnyTaskOperation) -> Void
    ) {
        self.operation = operation
        self.body = body
        self.pause = pause
        self.removeFromTable = removeFromTable
        requesters = Lock(Requesters(level: level))
    }

    func remove() { removeFromTable(operation) }

    /// Adds a request. Returns false if the operation is finished or cancelled, or its last request was cancelled.
    func join(at level: PriorityLevel) -> Bool {
        if operation.isFinished || operation.isCancelled { return false }
        let (hasJoined, hasRisen) = requesters.withLock { requesters in
            guard let before = requesters.highest else { return (false, false) }
            requesters.add(at: level)
            return (true, before < level)
        }
        if hasRisen { setPriority() }
        return hasJoined
    }

    func leave(from level: PriorityLevel) -> Effect {
        change { $0.remove(at: level) }
    }

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

    func perform(_ effect: Effect) {
        switch effect {
        case .none: break
        case .setPriority: setPriority()
        case .cancel:
            // The operation is removed first, so that no later request finds a cancelled operation.
            remove()
            operation.cancelWithUnneededInputs()
        }
    }

    /// Sets the priority of the operation to the highest priority of its requests. Another thread may set an outdated
    /// priority at the same time. So this method reads the state again after each change.
    private func setPriority() {
        while let level = requesters.withLock({ $0.highest }) {
            operation.priority = level.taskPriority
            if requesters.withLock({ $0.highest }) == level { return }
        }
    }
}
