import Simulation
import Synchronization
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Random operations with limits, on several threads", .inTurns, .endsInTime)
struct LimitStressTests {
    @Test("No limit is exceeded, no permit is lost, and every operation ends", arguments: 0..<(isDeep ? 400 : 200))
    func random(seed: Int) async throws {
        var program = LimitStress(seed: seed)
        try await program.run()
        for (number, limit) in program.limits.enumerated() {
            let capacity = program.capacities[number]
            #expect(program.uses[number].highest <= capacity)
            #expect(await eventually { limit.available == capacity })
        }
        for use in program.usesOfKeys { #expect(use.highest <= program.perKey) }
    }
}

/// A program with up to three queues that share three limits. The first limit has keys.
private struct LimitStress {
    /// The number of permits in use, and the highest one.
    final class Use: Sendable {
        private let current = Atomic(0)
        private let maximum = Atomic(0)

        var highest: Int { maximum.load(ordering: .sequentiallyConsistent) }

        func begin(_ weight: Int) {
            let sum = current.add(weight, ordering: .sequentiallyConsistent).newValue
            maximum.max(sum, ordering: .sequentiallyConsistent)
        }

        func end(_ weight: Int) { current.subtract(weight, ordering: .sequentiallyConsistent) }
    }

    private struct Need: Sendable {
        let limit: Int
        var weight = 1
        var key: Int?
    }

    let capacities: [Int]
    let perKey: Int
    let limits: [AsyncSemaphore]
    let uses = (0..<3).map { _ in Use() }
    let usesOfKeys = (0..<3).map { _ in Use() }
    private let queues: [TaskOperationQueue]
    private var operations: [AnyTaskOperation] = []
    private var tasks: [Task<Void, any Error>] = []
    private var random: SeededGenerator

    init(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        capacities = (0..<3).map { _ in 1 + random.number(below: 3) }
        perKey = 1 + random.number(below: 2)
        limits = [
            AsyncSemaphore(capacity: capacities[0], perKey: perKey), AsyncSemaphore(capacity: capacities[1]),
            AsyncSemaphore(capacity: capacities[2]),
        ]
        queues = (0...random.number(below: 3)).map { _ in
            TaskOperationQueue(.init(maxConcurrentOperationCount: 1 + random.number(below: 5)))
        }
        self.random = random
    }

    mutating func run() async throws {
        for number in 0..<(20 + random.number(below: 100)) {
            let queue = queues[random.number(below: queues.count)]
            if random.happens(percent: 6) { queue.addBarrier {} }
            operations.append(operation())
            try queue.addOperation(operations.last!)
            disturb(queue)
            if number % 7 == 0 { await Task.yield() }
        }
        for queue in queues { queue.isSuspended = false }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        for task in tasks { try await task.value }
    }

    private mutating func operation() -> TaskOperation<Void> {
        let needs = needs()
        var options = OperationOptions()
        for need in needs {
            if let key = need.key {
                options = [options, .limit(limits[need.limit], key: key, weight: need.weight)]
            } else {
                options = [options, .limit(limits[need.limit], weight: need.weight)]
            }
        }
        if random.happens(percent: 30) { options = [options, .priority(priority())] }
        if random.happens(percent: 10) { options = [options, .weight(2)] }
        let (yields, fails) = (random.number(below: 3), random.happens(percent: 8))
        if fails { options = [options, .retry(.immediately(attempts: 3))] }
        return TaskOperation(options) { [uses, usesOfKeys] in
            for need in needs {
                uses[need.limit].begin(need.weight)
                if let key = need.key { usesOfKeys[key].begin(need.weight) }
            }
            for _ in 0..<yields { await Task.yield() }
            for need in needs {
                uses[need.limit].end(need.weight)
                if let key = need.key { usesOfKeys[key].end(need.weight) }
            }
            if fails { throw CancellationError() }
        }
    }

    private mutating func needs() -> [Need] {
        let choice = random.number(below: 8)
        if choice == 7 { return [] }
        if choice == 6 { return [Need(limit: 1), Need(limit: 2)] }
        var need = Need(limit: choice % 3)
        if random.happens(percent: 20) { need.weight = min(2, capacities[need.limit]) }
        if need.limit == 0 { (need.key, need.weight) = (random.number(below: 3), min(need.weight, perKey)) }
        return [need]
    }

    private mutating func priority() -> TaskPriority { [.low, .medium, .high][random.number(below: 3)] }

    /// Cancels or changes an operation, changes the queue, or begins a task that needs a permit.
    private mutating func disturb(_ queue: TaskOperationQueue) {
        let operation = operations[random.number(below: operations.count)]
        if random.happens(percent: 12) { operation.cancel() }
        if random.happens(percent: 12) { operation.priority = priority() }
        if random.happens(percent: 10) { queue.isSuspended.toggle() }
        if random.happens(percent: 10) { queue.maxConcurrentOperationCount = 1 + random.number(below: 5) }
        if random.happens(percent: 8) {
            let limit = random.number(below: 3)
            let (semaphore, use) = (limits[limit], uses[limit])
            tasks.append(
                Task {
                    try await semaphore.withPermit {
                        use.begin(1)
                        await Task.yield()
                        use.end(1)
                    }
                })
        }
    }
}
