import TaskOperations

/// The required behaviour of the library in its simplest form: the model searches every list from its start, and caches
/// nothing.
///
/// Only calls change the model. It does not know which ready operation starts next, or when a body continues after a
/// wait. The simulation reports these events, and the model checks whether they are allowed.
struct Model {
    enum Phase: Int, Comparable {
        case created
        case submitted
        case executing
        case finished

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    enum Outcome: Hashable {
        case value
        /// The body threw the error of a step.
        case failure
        case cancelled
        case dependencyFailed
        /// The dependency on the input was removed, and the operation's turn came before the input had ended.
        case notReady
        case queueShutDown
        /// The operation was added to a full queue.
        case queueFull
        /// The queue dropped the operation for a newer one.
        case dropped
        /// The body threw the error of a rejected wait.
        case waitCycle
    }

    enum Target: Hashable {
        case operation(Int)
        /// The end of all operations of a queue.
        case queue(Int)
    }

    struct Wait: Hashable {
        let number: Int
        let target: Target
        /// Whether the wait lends the permit. The wait of an open scope does not.
        let isLending: Bool
        /// The target has been reached, but the waiting task has not visibly continued yet.
        var isOver = false
    }

    struct Operation {
        var phase = Phase.created
        var wasSubmitted = false
        var queue: Int?
        var arrival = 0
        var isBarrier = false
        var level: Int
        let weight: Int
        let limits: [Int]
        var dependencies: [Int]
        var input: Int?
        var isCancelled = false
        var outcome: Outcome?
        var bodies = 0
        /// Whether the operation has a handler that was not called. Dependents continue after that call.
        var awaitsHandler = false
        /// Whether a dependency has finished and the queue may not have been notified.
        var isPerhapsUntold = false
        var waits: [Wait] = []
        /// The maximum width of the queue since the body began.
        var highestWidth = 0
    }

    enum Intake {
        case open
        case openUntilEmpty
        case shut
    }

    struct Queue {
        var width: Int
        var isSuspended: Bool
        let order: TaskOperationQueue.Configuration.Order
        var pendingLimit: Int
        let overflow: TaskOperationQueue.Configuration.Overflow
        /// The maximum number of permits that operations of a priority hold at once. Only limited priorities have a
        /// value.
        var caps: [Int: Int] = [:]
        let rate: Program.Rate?
        /// The start times of operations, in seconds.
        var starts: [Int] = []
        /// Operations that are added as soon as the queue has room, in this order.
        var waitingForRoom: [Int] = []
        var intake = Intake.open
        /// Whether operations are cancelled when they are added.
        var cancelsAdded = false
        /// Whether the scope of the queue waits for its end, which nothing may prevent.
        var isClosing = false

        init(_ queue: Program.Queue) {
            width = queue.width
            isSuspended = queue.isSuspended
            order = queue.order
            pendingLimit = queue.pendingLimit
            overflow = queue.overflow
            rate = queue.rate
        }
    }

    var operations: [Operation]
    var queues: [Queue]
    /// The number of permits of each semaphore.
    var semaphores: [Int]
    /// The current time, in seconds.
    var time = 0
    /// Whether other threads can see that an operation is finished before all of its dependents are notified.
    var tellsDependentsLater = false
    /// The numbers of added operations and of waits.
    var (arrivals, waits) = (0, 0)
    private let complaints = Complaints()

    init(_ program: Program) {
        operations = program.operations.map { operation in
            let dependencies = (operation.input.map { [$0] } ?? []) + operation.dependencies
            return Operation(
                level: operation.level, weight: operation.weight, limits: operation.limits, dependencies: dependencies,
                input: operation.input)
        }
        semaphores = program.semaphores
        queues = program.queues.map { Queue($0) }
    }

    /// The differences from the expected behaviour, as text.
    var violations: [String] { complaints.all }

    func check(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds { complaints.all.append(message()) }
    }
}

/// A list to which code can append while it reads the model.
private final class Complaints {
    var all: [String] = []
}

// MARK: - Views

extension Model {
    /// The unfinished operations of a queue, in the order of addition.
    func unfinished(in queue: Int) -> [Int] {
        operations.indices
            .filter { operations[$0].queue == queue && operations[$0].phase != .finished }
            .sorted { operations[$0].arrival < operations[$1].arrival }
    }

    func isEmpty(_ queue: Int) -> Bool {
        !operations.contains { $0.queue == queue && $0.phase != .finished }
    }

    func unfinishedDependencies(of number: Int) -> [Int] {
        if operations[number].phase == .finished { return [] }
        return operations[number].dependencies.filter { operations[$0].phase != .finished }
    }

    /// The targets for which the tasks of a body wait and that have not been reached.
    func certainWaits(of number: Int) -> [Target] {
        if operations[number].phase == .finished { return [] }
        return operations[number].waits.filter { !$0.isOver }.map(\.target)
    }

    /// Whether all dependencies are finished. The operation may not have been notified; see `isSurelyReady`.
    func isReady(_ number: Int) -> Bool { unfinishedDependencies(of: number).isEmpty }

    /// Whether all dependencies are finished, their handlers were called, and the queue was notified.
    func isSurelyReady(_ number: Int) -> Bool {
        !operations[number].isPerhapsUntold
            && operations[number].dependencies.allSatisfy { other in
                operations[other].phase == .finished && !operations[other].awaitsHandler
            }
    }

    /// Whether the body will not run, because the value of its input is missing.
    func lacksInput(_ number: Int) -> Bool {
        operations[number].input.map { operations[$0].outcome != .value } ?? false
    }

    /// The operations for which an operation of a queue waits because of barriers.
    func heldBack(by queue: Int, before arrival: Int, isBarrier: Bool) -> [Int] {
        operations.indices.filter { other in
            let other = operations[other]
            return other.queue == queue && other.phase != .finished && other.arrival < arrival
                && (isBarrier || other.isBarrier)
        }
    }

    func heldBack(_ number: Int) -> [Int] {
        let operation = operations[number]
        guard operation.phase == .submitted, let queue = operation.queue else { return [] }
        return heldBack(by: queue, before: operation.arrival, isBarrier: operation.isBarrier)
    }

    /// The total number of permits that operations need.
    func weight(of numbers: [Int]) -> Int { numbers.reduce(0) { $0 + operations[$1].weight } }

    /// The operations of a queue whose bodies certainly hold their permits.
    func holders(in queue: Int) -> [Int] {
        operations.indices.filter { number in
            let operation = operations[number]
            return operation.queue == queue && operation.phase == .executing
                && !operation.waits.contains(where: \.isLending)
        }
    }
}
