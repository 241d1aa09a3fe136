import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

/// Tests of many threads on the real cooperative pool. Suitable for the thread sanitizer and the address sanitizer.
@Suite("Many threads", .inTurns, .serialized, .endsInTime)
struct StressTests {
    private static let perThread = 400
    private static let threads = 8
    private static let all = perThread * threads

    /// Adds the operations of one thread. Every fourth operation depends on the previous one, some are barriers, and
    /// priorities vary.
    private func produce(
        _ thread: Int, to queues: [TaskOperationQueue], _ roll: @escaping @Sendable (Int) -> Roll
    ) -> [TaskOperation<Int>] {
        var random = SeededGenerator(seed: UInt64(thread))
        var made: [TaskOperation<Int>] = []
        for index in 0..<Self.perThread {
            let number = thread * Self.perThread + index
            let target = random.number(below: queues.count)
            let operation = TaskOperation<Int>(
                priority: [.low, .medium, .high][random.number(below: 3)],
                dependencies: index % 4 == 3 ? [made[index - 1]] : []
            ) {
                roll(target).enter(number)
                if number % 16 == 0 { await Task.yield() }
                roll(target).leave()
                return number
            }
            operation.addCompletionHandler { [roll = roll(target)] in roll.end(number) }
            made.append(operation)
            do {
                if random.happens(percent: 2) {
                    try queues[target].addBarrier(operation)
                } else {
                    try queues[target].addOperation(operation)
                }
            } catch {
                Issue.record(error)
            }
        }
        return made
    }

    @Test("Producers on eight threads: none is lost, none runs twice, none runs beyond the width")
    func producers() async throws {
        let queues = (1...3).map { TaskOperationQueue(maxConcurrentOperationCount: $0) }
        let rolls = queues.map { _ in Roll(Self.all) }
        let made = Recorder<[TaskOperation<Int>]>()
        await onThreads(Self.threads) { made.record(produce($0, to: queues) { rolls[$0] }) }
        for operation in made.events.joined() { _ = try await operation.value }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        for number in 0..<Self.all {
            #expect(rolls.reduce(0) { $0 + $1.runs(of: number) } == 1)
            #expect(rolls.reduce(0) { $0 + $1.ends(of: number) } == 1)
        }
        for (roll, queue) in zip(rolls, queues) { #expect(roll.most <= queue.maxConcurrentOperationCount) }
    }

    @Test("A storm of cancels, suspensions, widths and priorities: each ends once, and ran or was cancelled")
    func storm() async throws {
        let queues = (0..<3).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 2) }
        let rolls = queues.map { _ in Roll(Self.all) }
        let made = Recorder<[TaskOperation<Int>]>()
        await onThreads(Self.threads) { thread in
            let operations = produce(thread, to: queues) { rolls[$0] }
            made.record(operations)
            disturb(operations, on: queues, seed: UInt64(thread))
        }
        for queue in queues { queue.isSuspended = false }
        for operation in made.events.joined() { _ = await operation.result }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        for operation in made.events.joined() {
            let isCancelled = operation.failure is CancellationError
            if case .success(let number) = await operation.result {
                #expect(rolls.reduce(0) { $0 + $1.runs(of: number) } == 1)
            } else {
                #expect(isCancelled)
            }
        }
        for number in 0..<Self.all { #expect(rolls.reduce(0) { $0 + $1.runs(of: number) } <= 1) }
        // Handlers of operations that were cancelled before their start run in separate tasks.
        while (0..<Self.all).contains(where: { number in rolls.allSatisfy { $0.ends(of: number) == 0 } }) {
            await Task.yield()
        }
        for number in 0..<Self.all { #expect(rolls.reduce(0) { $0 + $1.ends(of: number) } == 1) }
    }

    private func disturb(_ operations: [TaskOperation<Int>], on queues: [TaskOperationQueue], seed: UInt64) {
        var random = SeededGenerator(seed: ~seed)
        for _ in 0..<operations.count {
            let operation = operations[random.number(below: operations.count)]
            let queue = queues[random.number(below: queues.count)]
            switch random.number(below: 20) {
            case 0..<8: operation.cancel()
            case 8..<12: operation.priority = [.background, .medium, .high][random.number(below: 3)]
            case 12..<15: queue.isSuspended.toggle()
            case 15..<18: queue.maxConcurrentOperationCount = 1 + random.number(below: 4)
            case 18: queue.cancelAllOperations()
            default: _ = queue.operations.count
            }
        }
    }

    @Test("Queues that are released while they are full, suspended or not, finish their operations and are freed")
    func dyingQueues() async throws {
        let ran = ConcurrencyMeter()
        let queues = Recorder<WeakQueue>()
        await onThreads(Self.threads) { thread in
            for index in 0..<50 {
                let queue = TaskOperationQueue(
                    .init(maxConcurrentOperationCount: 1 + index % 3, isSuspended: index % 2 == 0))
                for _ in 0..<10 { queue.addOperation { ran.enter() } }
                queues.record(WeakQueue(queue))
            }
        }
        while ran.total < Self.threads * 500 { await Task.yield() }
        #expect(ran.total == Self.threads * 500)
        while queues.events.contains(where: { $0.queue != nil }) { await Task.yield() }
    }

    @Test("Scopes that are cancelled while they are full leave nothing behind")
    func cancelledScopes() async {
        let meter = ConcurrencyMeter()
        await withTaskGroup { group in
            for index in 0..<100 {
                group.addTask {
                    try? await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
                        for _ in 0..<20 { queue.addOperation { await meter.measure { await Task.yield() } } }
                    }
                }
                if index % 10 == 9 { group.cancelAll() }
            }
        }
        #expect(meter.now == 0)
    }
}

private struct WeakQueue: Sendable {
    weak var queue: TaskOperationQueue?

    init(_ queue: TaskOperationQueue) {
        self.queue = queue
    }
}
