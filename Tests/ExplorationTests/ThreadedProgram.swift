import Exploration

@testable import Simulation
@testable import TaskOperations

/// A program of the simulation with its steps distributed over threads.
struct ThreadedProgram: Sendable, CustomStringConvertible {
    var program: Program
    /// The steps of each thread. Waiting steps run in separate tasks.
    var threads: [[Step]]

    /// Creates the program of a seed, on two to four threads.
    init(seed: UInt64) {
        self.init(Program(seed: seed), seed: seed)
    }

    init(_ program: Program, seed: UInt64) {
        self.program = program
        let count = 2 + Int(seed % 3)
        threads = Array(repeating: [], count: count)
        for (index, step) in program.steps.enumerated() {
            // Each thread gets pairs of consecutive steps, so it can add an operation and then change it.
            threads[(index / 2 + Int(seed >> 3)) % count].append(step)
        }
    }

    /// Returns the program in a form whose schedules can be explored.
    func explored(name: String) -> ExploredProgram {
        var explored = ExploredProgram(name) { schedule in
            let world = ThreadedWorld(self, schedule)
            for (number, steps) in threads.enumerated() {
                schedule.thread("thread \(number)") { world.perform(steps, on: .thread(number)) }
            }
            schedule.runToEnd()
            world.runToEnd()
            world.check()
            world.dismantle()
        }
        explored.details = "\(self)"
        return explored
    }

    /// Returns a smaller program that still fails; nil if none was found.
    ///
    /// - Parameter schedules: The maximum number of schedules, not counting those that reduce the choices.
    func shrunk(seed: UInt64, after failure: FailedSchedule, schedules: Int = 4000) -> FailedSchedule? {
        var smallest: (program: ThreadedProgram, choices: Exploration.Choices)?
        var left = schedules
        var hasShrunk = true
        while hasShrunk {
            hasShrunk = false
            for candidate in (smallest?.program ?? self).program.smaller where left > 0 {
                let threaded = ThreadedProgram(candidate, seed: seed)
                guard let choices = threaded.failure(after: failure.choices, &left) else { continue }
                smallest = (threaded, choices)
                hasShrunk = true
                break
            }
        }
        guard let smallest else { return nil }
        return smallest.program.explored(name: "shrunk").explore(.replay(smallest.choices)).failure
    }

    /// Returns the choices of a failing schedule, found with few attempts; nil if none fails.
    private func failure(after choices: Exploration.Choices, _ left: inout Int) -> Exploration.Choices? {
        let program = explored(name: "shrunk")
        for strategy in [.replay(choices), .priorities(seeds: 0..<30, depth: 3), .uniform(seeds: 0..<30)]
            as [ExplorationStrategy]
        {
            let result = program.explore(strategy, shrinks: false)
            left -= result.scheduleCount
            if let failure = result.failure { return failure.choices }
        }
        return nil
    }
}

extension ThreadedProgram {
    var description: String {
        var plain = program
        plain.steps = []
        let lists = threads.enumerated().map { "thread \($0): " + $1.map { "\($0)" }.joined(separator: ", ") }
        return (["\(plain)"] + lists).joined(separator: "\n").replacing("Simulation.", with: "")
    }
}

/// The queues and operations of a program on threads, and their events.
final class ThreadedWorld: @unchecked Sendable {
    // Only the thread that has the turn uses these properties. A lock is unnecessary, and would add steps to the
    // schedules.
    let program: Program
    let schedule: Schedule
    private(set) var operations: [TaskOperation<Int>] = []
    private(set) var queues: [TaskOperationQueue?] = []
    private let semaphores: [AsyncSemaphore]
    private var bodies: [Int]
    private var handlers: [Int]
    private(set) var history = History()
    private var openScopes: Set<Int> = []

    init(_ threaded: ThreadedProgram, _ schedule: Schedule) {
        program = threaded.program
        self.schedule = schedule
        semaphores = program.semaphores.map { AsyncSemaphore(capacity: $0) }
        bodies = program.operations.map { _ in 0 }
        handlers = bodies
        queues = program.queues.enumerated().map { number, queue in
            queue.isScope
                ? nil
                : TaskOperationQueue(
                    .init(
                        name: "\(number)", maxConcurrentOperationCount: queue.width, order: queue.order,
                        maxQueuedOperationCount: queue.pendingLimit, overflow: queue.overflow,
                        rate: queue.operationRate, isSuspended: queue.isSuspended))
        }
        for number in program.operations.indices { operations.append(makeOperation(number)) }
    }

    private func makeOperation(_ number: Int) -> TaskOperation<Int> {
        let made = program.operations[number]
        let (name, priority) = ("\(number)", TaskPriority.levels[made.level])
        let dependencies = made.dependencies.map { operations[$0] as AnyTaskOperation }
        let operation =
            if let input = made.input {
                TaskOperation(
                    name: name, dependencies: dependencies, .priority(priority), after: operations[input]
                ) {
                    _ in
                    try await self.run(number)
                }
            } else {
                TaskOperation(name: name, priority: priority, dependencies: dependencies) {
                    try await self.run(number)
                }
            }
        if made.weight != 1 { try? operation.addOptions(.weight(made.weight)) }
        if !made.limits.isEmpty { try? operation.addOptions(.limits(made.limits.map { semaphores[$0] })) }
        if made.hasHandler { operation.addCompletionHandler { _ in self.handlers[number] += 1 } }
        return operation
    }
}

// MARK: - Steps

extension ThreadedWorld {
    private func run(_ number: Int) async throws -> Int {
        history.begin(number)
        bodies[number] += 1
        for other in operations[number].dependencies {
            schedule.expect(other.isFinished, "\(number) began before the end of \(other)")
        }
        do {
            for step in program.operations[number].steps { try await perform(step, on: .body(number)) }
        } catch {
            history.end(number, error)
            throw error
        }
        history.end(number, nil)
        return number
    }

    /// Performs the steps of a thread.
    func perform(_ steps: [Step], on place: History.Place) {
        for step in steps {
            if case .call(let call) = step {
                perform(call, on: place)
            } else {
                Task { try? await perform(step, on: .task) }
            }
        }
    }

    private func perform(_ step: Step, on place: History.Place) async throws {
        switch step {
        case .yield: await Task.yield()
        case .call(let call): perform(call, on: place)
        case .await(let number, let insists):
            try await operations[number].waitUntilFinished()
            if insists, operations[number].failure != nil { throw StepFailure() }
        case .addWaiting(let number, let queue):
            try? await queues[queue]?.addOperationWaitingForRoom(operations[number])
        case .awaitAll(let queue): try await queues[queue]?.waitUntilAllOperationsAreFinished()
        case .children(let lists):
            await withTaskGroup { group in
                for steps in lists {
                    group.addTask {
                        for step in steps { do { try await self.perform(step, on: .task) } catch { return } }
                    }
                }
            }
        case .scope(let queue, let steps):
            // The number is noted before the scope opens, because opening takes several steps. Otherwise two scopes
            // with one number could be open at once.
            if queues[queue] != nil || !openScopes.insert(queue).inserted { return }
            defer { openScopes.remove(queue) }
            try? await withTaskOperationQueue(
                maxConcurrentOperationCount: max(1, program.queues[queue].width), failures: .ignore
            ) {
                real in
                queues[queue] = real
                defer { queues[queue] = nil }
                for step in steps { try await perform(step, on: place) }
            }
        case .checkCancellation:
            history.check(Task.isCancelled, on: place)
            try Task.checkCancellation()
        case .fail: throw StepFailure()
        }
    }

    /// Performs a call. Returns the error if the call was refused.
    @discardableResult
    private func perform(_ call: Call, on place: History.Place) -> TaskOperationError? {
        let start = history.invoke()
        var refusal: TaskOperationError?
        do {
            try perform(call)
        } catch {
            refusal = error
        }
        schedule.note("\(call)\(refusal.map { ": \($0)" } ?? "")")
        history.record(call, refusal, from: start, on: place)
        return refusal
    }

    private func perform(_ call: Call) throws(TaskOperationError) {
        switch call {
        case .add(let numbers, let queue):
            if numbers.count == 1 {
                try queues[queue]?.addOperation(operations[numbers[0]])
            } else {
                try queues[queue]?.addOperations(numbers.map { operations[$0] })
            }
        case .addBarrier(let number, let queue): try queues[queue]?.addBarrier(operations[number])
        case .cancel(let number): operations[number].cancel()
        case .cancelAll(let queue): queues[queue]?.cancelAllOperations()
        case .setSuspended(let queue, let isSuspended): queues[queue]?.isSuspended = isSuspended
        case .setWidth(let queue, let width): queues[queue]?.maxConcurrentOperationCount = width
        case .setPendingLimit(let queue, let limit): queues[queue]?.maxQueuedOperationCount = limit
        case .setCap(let queue, let level, let count):
            queues[queue]?.setMaxConcurrentOperationCount(count, for: TaskPriority.levels[level])
        case .setLevel(let number, let level): operations[number].priority = TaskPriority.levels[level]
        case .advance: break
        case .depend(let number, let other): try operations[number].addDependency(operations[other])
        case .undepend(let number, let other): try operations[number].removeDependency(operations[other])
        case .shutDown(let queue, let isCancelling): queues[queue]?.shutDown(isCancelling ? .cancel : .drain)
        }
    }
}

// MARK: - The end

extension ThreadedWorld {
    /// Performs the actions that unblock operations until all operations have ended.
    func runToEnd() {
        for _ in 0..<operations.count + 3 where !operations.allSatisfy(\.isFinished) {
            for (number, queue) in queues.enumerated() {
                guard let queue else { continue }
                perform(.setPendingLimit(number, .max), on: .main)
                for level in TaskPriority.levels.indices {
                    queue.setMaxConcurrentOperationCount(.max, for: TaskPriority.levels[level])
                }
                if queue.maxConcurrentOperationCount == 0 { perform(.setWidth(number, 1), on: .main) }
                if queue.isSuspended { perform(.setSuspended(number, false), on: .main) }
            }
            letOthersRunToEnd()
            for (number, operation) in operations.enumerated() where !operation.isFinished {
                let refusal = perform(.add([number], to: 0), on: .main)
                if let refusal, Refusal(refusal) != .alreadyAdded { perform(.cancel(number), on: .main) }
            }
            letOthersRunToEnd()
            for semaphore in semaphores { semaphore.capacity = operations.count * 5 }
            letOthersRunToEnd()
        }
    }

    private func letOthersRunToEnd() {
        schedule.runToEnd()
        history.noteQuiet()
    }

    /// Checks the conditions that must hold under every schedule.
    func check() {
        for (number, operation) in operations.enumerated() {
            schedule.expect(operation.isFinished, "\(number) has not ended: \(operation.debugDescription)")
            schedule.expect(bodies[number] <= 1, "the body of \(number) ran \(bodies[number]) times")
            if program.operations[number].hasHandler {
                schedule.expect(handlers[number] == 1, "the handler of \(number) was called \(handlers[number]) times")
            }
        }
        for case let queue? in queues {
            schedule.expect(queue.operationCount == 0, "\(queue) has \(queue.operationCount) operations")
            schedule.expect(queue.claimCount == 0, "\(queue) claims limits")
        }
        for (number, semaphore) in semaphores.enumerated() {
            let missing = semaphore.capacity - semaphore.available
            schedule.expect(missing == 0, "\(missing) permits of semaphore \(number) were not returned")
        }
        if let failure = history.difference(from: program, operations) { schedule.fail(failure) }
    }

    /// Releases all references, and checks that no operation or queue remains.
    func dismantle() {
        let kept = (operations as [AnyObject] + queues.compactMap { $0 }).map { WeakReference($0) }
        operations = []
        queues = []
        schedule.runToEnd()
        let count = kept.count { $0.object != nil }
        schedule.expect(count == 0, "\(count) operations and queues are not freed")
        schedule.expect(Deadlines.count == 0, "\(Deadlines.count) deadlines are left")
    }
}

private struct WeakReference {
    weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}
