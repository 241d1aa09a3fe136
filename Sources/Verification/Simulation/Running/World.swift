import TaskOperations
import TaskOperationsDiagnosis

/// The real queues and operations of a program, and their model.
///
/// Every step of the program is applied to both, and every event of the library is reported to the model. No job runs
/// between a call and the check of its result, because all jobs run on one thread.
final class World: @unchecked Sendable {
    // Only the single thread of the executor uses the mutable state.

    let program: Program
    let executor: SeededExecutor
    private(set) var operations: [TaskOperation<Int>] = []
    var queues: [TaskOperationQueue?] = []
    let semaphores: [AsyncSemaphore]
    let clock: SimulatedClock
    var model: Model
    /// The waits for the remaining operations in the queues of scopes.
    var closing: [Int: Int] = [:]
    /// The number of calls and events. `trace` contains them in order.
    private(set) var events = 0
    private(set) var trace: [String] = []
    private let keepsTrace: Bool
    private let eventsBetweenLooks: Int
    /// Receives every event of every queue. Nil in half of the programs, because a queue without an observer uses
    /// another path.
    let eventCheck: EventCheck?

    init(_ program: Program, executor: SeededExecutor, keepsTrace: Bool, eventsBetweenLooks: Int) {
        self.program = program
        self.executor = executor
        clock = SimulatedClock(on: executor)
        self.keepsTrace = keepsTrace
        self.eventsBetweenLooks = eventsBetweenLooks
        model = Model(program)
        semaphores = program.semaphores.map { AsyncSemaphore(capacity: $0) }
        let isObserved = program.schedule.isMultiple(of: 2)
        eventCheck = isObserved ? EventCheck(operationCount: program.operations.count) : nil
        for (number, queue) in program.queues.enumerated() { queues.append(queue.isScope ? nil : made(number)) }
        for number in program.operations.indices { operations.append(made(number)) }
    }

    private func made(_ number: Int) -> TaskOperationQueue {
        let queue = program.queues[number]
        let made = TaskOperationQueue(
            .init(
                name: "\(number)", maxConcurrentOperationCount: queue.width, order: queue.order,
                maxQueuedOperationCount: queue.pendingLimit, overflow: queue.overflow, rate: queue.operationRate,
                clock: clock, isSuspended: queue.isSuspended, executor: executor))
        observe(made)
        return made
    }

    func observe(_ queue: TaskOperationQueue) {
        if let eventCheck { queue.addObserver(eventCheck) }
    }

    private func made(_ number: Int) -> TaskOperation<Int> {
        let made = madePlain(number)
        let limits = program.operations[number].limits.map { semaphores[$0] }
        try! made.addOptions([.weight(program.operations[number].weight), .limits(limits)])
        return made
    }

    private func madePlain(_ number: Int) -> TaskOperation<Int> {
        let operation = program.operations[number]
        let (name, priority) = ("\(number)", TaskPriority.levels[operation.level])
        let dependencies = operation.dependencies.map { operations[$0] as AnyTaskOperation }
        if let input = operation.input {
            return TaskOperation(
                name: name, dependencies: dependencies, .priority(priority), after: operations[input]
            ) {
                [unowned self] value in
                model.check(value == input, "operation \(number) got the value \(value) of \(input)")
                return try await run(number)
            }
        }
        return TaskOperation(name: name, priority: priority, dependencies: dependencies) { [unowned self] in
            try await run(number)
        }
    }

    /// The priorities by which the library orders operations.
    var orderLevels: [Int] { operations.map { Int($0.orderPriority.rawValue) } }

    /// Releases the queues and operations of the program, so that no cycle of references remains.
    func dismantle() {
        queues = []
        operations = []
    }
}

// MARK: - Seeing

extension World {
    /// Records a call or an event.
    func note(_ event: @autoclosure () -> String) {
        events += 1
        if keepsTrace { trace.append(event()) }
        noticeMissingInputs()
    }

    /// Records the ends of operations without their input. They begin and end between two observable events, one after
    /// the other if they depend on each other.
    private func noticeMissingInputs() {
        while true {
            let ended = operations.indices.filter { number in
                model.operations[number].phase == .submitted && model.lacksInput(number)
                    && operations[number].isFinished
            }
            guard let next = ended.first(where: { model.isReady($0) }) ?? ended.first else { return }
            model.endWithoutInput(next, Model.Outcome(of: operations[next]))
        }
    }

    /// Checks that the library and the model agree on all observable state, if the next check is due.
    func look() {
        if !isTimeToLook { return }
        compare()
        compareQueues()
        comparePriorities()
    }

    /// Checks that the library and the model agree on all states, if the next check is due.
    func lookAtOperations() {
        if isTimeToLook { compare() }
    }

    private var isTimeToLook: Bool { events.isMultiple(of: eventsBetweenLooks) }

    /// Checks that the library and the model agree on all states.
    func compare() {
        for number in operations.indices {
            let (real, expected) = (operations[number], model.operations[number])
            let isRight =
                switch real.state {
                case .waiting: expected.phase <= .submitted && !model.isSurelyReady(number)
                case .ready: expected.phase <= .submitted && model.isReady(number)
                case .executing: expected.phase == .executing
                case .finished: expected.phase == .finished
                }
            model.check(isRight, "\(real) is \(expected.phase) in the model")
            model.check(real.isCancelled == expected.isCancelled, "\(real) is marked otherwise in the model")
            let complaint = eventCheck?.check(number, real, waitsForRoom: model.waitsForRoom(number))
            if let complaint { model.check(false, complaint) }
        }
        for complaint in eventCheck?.complaints ?? [] { model.check(false, complaint) }
    }

    /// Checks that the contents of the library's queues are those of the model.
    func compareQueues() {
        for (number, queue) in queues.enumerated() {
            guard let queue else { continue }
            let unfinished = model.unfinished(in: number)
            let real = queue.operations.compactMap { $0.name.flatMap { Int($0) } }
            model.check(real == unfinished, "queue \(number) has \(real), in the model \(unfinished)")
            model.check(queue.isSuspended == model.queues[number].isSuspended, "queue \(number) is suspended otherwise")
        }
    }

    /// Checks that waiting operations have propagated their priority.
    func comparePriorities() {
        let levels = operations.map(\.effectivePriority.rawValue)
        for number in operations.indices where model.operations[number].queue != nil {
            for other in model.unfinishedDependencies(of: number) + model.heldBack(number) {
                check(other, hasLevel: levels[number], levels, number)
            }
            for case .operation(let other) in model.certainWaits(of: number) {
                // The runtime creates a child task of a user-interactive task with the next lower priority.
                check(other, hasLevel: min(levels[number], TaskPriority.high.rawValue), levels, number)
            }
        }
    }

    private func check(_ other: Int, hasLevel level: UInt8, _ levels: [UInt8], _ number: Int) {
        model.check(
            levels[other] >= level,
            "operation \(other) has priority \(levels[other]), and \(number) of \(levels[number]) waits for it")
    }
}

extension TaskPriority {
    static let levels: [TaskPriority] = [.background, .low, .medium, .high, TaskPriority(rawValue: 33)]
}
