import TaskOperations

/// The required behaviour of the library in its simplest form: every list is searched from its start, and nothing is
/// cached.
///
/// The model changes only through calls. It does not know which ready operation starts when, or when a body continues
/// after a wait. It is told of these events, and checks that they may happen.
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
        /// The dependency on an input was removed, and its turn came before the end of that.
        case notReady
        case queueShutDown
        /// It was added to a queue that was full.
        case queueFull
        /// It gave way to one that was added later.
        case dropped
        /// The body threw the refusal of a wait.
        case waitCycle
    }

    enum Target: Hashable {
        case operation(Int)
        /// That a queue is empty.
        case queue(Int)
    }

    struct Wait: Hashable {
        let number: Int
        let target: Target
        /// It lends the permit out; a scope that is open does not.
        let isLending: Bool
        /// The target has been reached, but the waiting task has not visibly continued yet.
        var isOver = false
    }

    struct Operation {
        var phase = Phase.created
        var wasSubmitted = false
        var queue: Int?
        var arrival = 0
        /// When it was added, in seconds.
        var arrivalTime = 0
        var isBarrier = false
        var level: Int
        let weight: Int
        let limits: [Int]
        var dependencies: [Int]
        var input: Int?
        var isCancelled = false
        var outcome: Outcome?
        var bodies = 0
        /// The operation has a handler that was not called. Dependents continue after the call.
        var awaitsHandler = false
        /// A dependency has finished, and the queue may not know of it yet.
        var isPerhapsUntold = false
        var waits: [Wait] = []
        /// The highest width of the queue since the body began.
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
        let order: OperationOrder
        var pendingLimit: Int
        let overflow: QueueOverflow
        /// How many permits the operations of a priority take at once, if that is limited.
        var caps: [Int: Int] = [:]
        let rate: Program.Rate?
        let ageing: Int?
        /// When operations started, in seconds.
        var starts: [Int] = []
        /// Operations that are added as soon as there is room, in this order.
        var waitingForRoom: [Int] = []
        var intake = Intake.open
        /// Operations are cancelled at once when they are added.
        var cancelsAdded = false
        /// The scope whose queue it is waits for its end, which nothing may hold up.
        var isClosing = false

        init(_ queue: Program.Queue) {
            width = queue.width
            isSuspended = queue.isSuspended
            order = queue.order
            pendingLimit = queue.pendingLimit
            overflow = queue.overflow
            rate = queue.rate
            ageing = queue.ageing
        }
    }

    var operations: [Operation]
    var queues: [Queue]
    /// How many permits each semaphore has.
    var semaphores: [Int]
    /// How many seconds have passed.
    var time = 0
    /// Whether other threads may see an operation finished before all of its dependents are told.
    var tellsDependentsLater = false
    /// How many operations were added, and how many waits began.
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

    /// The differences from the expected behaviour, in words.
    var violations: [String] { complaints.all }

    func check(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds { complaints.all.append(message()) }
    }
}

/// A list that can be added to while the model is looked at.
private final class Complaints {
    var all: [String] = []
}

// MARK: - Views

extension Model {
    /// The operations of a queue that are not finished, in the order of adding.
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

    /// The targets of the waits of a body's tasks that have not been reached.
    func certainWaits(of number: Int) -> [Target] {
        if operations[number].phase == .finished { return [] }
        return operations[number].waits.filter { !$0.isOver }.map(\.target)
    }

    /// Whether all dependencies are finished. Some may not have told: see `isSurelyReady`.
    func isReady(_ number: Int) -> Bool { unfinishedDependencies(of: number).isEmpty }

    /// Whether all dependencies are finished, and their handlers called, and the queue knows of it.
    func isSurelyReady(_ number: Int) -> Bool {
        !operations[number].isPerhapsUntold
            && operations[number].dependencies.allSatisfy { other in
                operations[other].phase == .finished && !operations[other].awaitsHandler
            }
    }

    /// Whether the body will not run, as the value that it needs is not there.
    func lacksInput(_ number: Int) -> Bool {
        operations[number].input.map { operations[$0].outcome != .value } ?? false
    }

    /// The operations that an operation of a queue waits for because of barriers.
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

    /// How many permits operations take together.
    func weight(of numbers: [Int]) -> Int { numbers.reduce(0) { $0 + operations[$1].weight } }

    /// The operations of a queue whose bodies surely hold their permits.
    func holders(in queue: Int) -> [Int] {
        operations.indices.filter { number in
            let operation = operations[number]
            return operation.queue == queue && operation.phase == .executing
                && !operation.waits.contains(where: \.isLending)
        }
    }
}
