/// The rules for a `BridgeProgram`. The model does not choose among operations that can start. It receives the events,
/// and checks whether each event is allowed and whether further events must follow.
struct BridgeModel {
    enum Phase: Sendable { case pending, executing, finished }

    enum Event: Hashable, Sendable {
        case began(Int)
        case ended(Int)
    }

    struct Operation {
        let queue: Int
        let isOurs: Bool
        var dependencies: Set<Int>
        /// The condition that the operation's class adds to its dependencies.
        var isReady: Bool
        var isAdded = false
        var isCancelled = false
        var phase = Phase.pending
    }

    struct Queue {
        let isFoundations: Bool
        var width: Int
        var isSuspended: Bool
    }

    private(set) var operations: [Operation]
    private(set) var queues: [Queue]
    private(set) var violations: [String] = []

    init(_ program: BridgeProgram) {
        operations = program.operations.map { operation in
            let isReady = operation.style != .conditional && operation.style != .conditioned
            return Operation(
                queue: operation.queue, isOurs: operation.style == nil, dependencies: Set(operation.dependencies),
                isReady: isReady)
        }
        queues = program.queues.map { queue in
            Queue(isFoundations: queue.kind == .foundation, width: queue.width, isSuspended: queue.isSuspended)
        }
    }

    mutating func complain(_ violation: String) { violations.append(violation) }

    // MARK: Calls

    mutating func add(_ number: Int) {
        operations[number].isAdded = true
        finishIfCancelled(number)
    }

    mutating func cancel(_ number: Int) {
        if operations[number].phase == .finished { return }
        operations[number].isCancelled = true
        finishIfCancelled(number)
    }

    mutating func becomeReady(_ number: Int) { operations[number].isReady = true }

    mutating func link(_ number: Int, to other: Int) { operations[number].dependencies.insert(other) }

    mutating func unlink(_ number: Int, from other: Int) { operations[number].dependencies.remove(other) }

    mutating func setSuspended(_ queue: Int, _ isSuspended: Bool) { queues[queue].isSuspended = isSuspended }

    mutating func setWidth(_ queue: Int, _ width: Int) { queues[queue].width = width }

    /// Finishes a cancelled operation that has not started, if it is an operation of this library or on a queue of this
    /// library.
    private mutating func finishIfCancelled(_ number: Int) {
        let operation = operations[number]
        guard operation.isCancelled, operation.phase == .pending else { return }
        let isInQueueOfOurs = operation.isAdded && !queues[operation.queue].isFoundations
        if operation.isOurs || isInQueueOfOurs { operations[number].phase = .finished }
    }

    // MARK: Events

    mutating func happened(_ event: Event) {
        switch event {
        case .began(let number):
            if !canStart(number) { complain("\(number) began, though it is \(operations[number])") }
            operations[number].phase = .executing
        case .ended(let number):
            if operations[number].phase != .executing {
                complain("\(number) ended, though it is \(operations[number])")
            }
            operations[number].phase = .finished
        }
    }

    /// An `OperationQueue` finishes a cancelled operation when it could start the operation.
    mutating func wasFinishedByFoundation(_ number: Int) {
        let operation = operations[number]
        if operation.isCancelled, operation.isAdded, operation.phase == .pending, queues[operation.queue].isFoundations
        {
            operations[number].phase = .finished
        }
    }

    // MARK: Expected events

    /// Whether no further event must follow.
    var isSettled: Bool { operations.indices.allSatisfy { !canStart($0) && !canBeFinishedByFoundation($0) } }

    /// Whether each operation of the path depends on the next one, and none has started or been cancelled.
    func isPendingPath(_ path: [Int]) -> Bool {
        path.allSatisfy { operations[$0].phase == .pending && !operations[$0].isCancelled }
            && zip(path, path.dropFirst()).allSatisfy { operations[$0].dependencies.contains($1) }
    }

    func isPending(_ number: Int) -> Bool { operations[number].phase == .pending }

    private func canStart(_ number: Int) -> Bool {
        let operation = operations[number]
        return operation.isAdded && operation.phase == .pending && !operation.isCancelled && operation.isReady
            && operation.dependencies.allSatisfy { operations[$0].phase == .finished } && hasRoom(operation.queue)
    }

    private func canBeFinishedByFoundation(_ number: Int) -> Bool {
        let operation = operations[number]
        return operation.isAdded && operation.phase == .pending && operation.isCancelled && hasRoom(operation.queue)
    }

    private func hasRoom(_ queue: Int) -> Bool {
        let executing = operations.count { $0.queue == queue && $0.phase == .executing }
        return !queues[queue].isSuspended && executing < queues[queue].width
    }
}
