import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// Bodies that await each other in every way, also several at once and in child tasks. Meanwhile, other tasks cancel
/// operations and raise their priorities.
@Suite("Bodies that wait", .inTurns, .serialized, .endsInTime)
struct WaitingBodiesTests {
    @Test(
        "All bodies end, no more execute than the width, and every permit is returned", arguments: 1...(isDeep ? 8 : 1))
    func storm(seed: UInt64) async throws {
        let scene = WaitingScene()
        await onThreads(4) { thread in
            var random = SeededGenerator(seed: seed &* 100 &+ UInt64(thread))
            for _ in 0..<30 {
                scene.grow(depth: 3, seed: random.next())
                scene.disturb(&random)
            }
        }
        for queue in scene.queues { try await queue.waitUntilAllOperationsAreFinished() }
        for (queue, meter) in zip(scene.queues, scene.meters) {
            #expect(meter.most <= queue.maxConcurrentOperationCount)
            try await takeAllPermits(of: queue)
        }
    }

    private func takeAllPermits(of queue: TaskOperationQueue) async throws {
        let (gate, width) = (Gate(), queue.maxConcurrentOperationCount)
        for _ in 0..<width { queue.addOperation { await gate.pass() } }
        await gate.waitForArrivals(width)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

/// Queues of small width, and their running bodies.
private final class WaitingScene: Sendable {
    let queues = [1, 1, 2, 3].map { TaskOperationQueue(maxConcurrentOperationCount: $0) }
    /// The number of bodies that execute with a permit, by queue.
    let meters = (0..<4).map { _ in ConcurrencyMeter() }
    private let known = Recorder<AnyTaskOperation>()

    /// Adds an operation whose body awaits other operations, which may await further ones. Some operations are
    /// abandoned early.
    @discardableResult
    func grow(depth: Int, seed: UInt64) -> TaskOperation<Void> {
        var random = SeededGenerator(seed: seed)
        let (number, steps) = (random.number(below: queues.count), random.next())
        let priority = [TaskPriority.low, .medium, .high][random.number(below: 3)]
        let timeout: Duration = random.happens(percent: 10) ? .microseconds(200) : .seconds(600)
        let operation = queues[number].addOperation([.priority(priority), .timeout(timeout), .overrun(.abandon)]) {
            [self] in
            var random = SeededGenerator(seed: steps)
            for _ in 0..<random.number(below: 4) {
                await meters[number].measure { if random.happens(percent: 50) { await Task.yield() } }
                await wait(depth: depth, &random)
            }
            await meters[number].measure { await Task.yield() }
        }
        known.record(operation)
        return operation
    }

    /// Waits in several child tasks, each in a random way.
    private func wait(depth: Int, _ random: inout SeededGenerator) async {
        let seeds = (0..<(1 + random.number(below: 3))).map { _ in random.next() }
        await withDiscardingTaskGroup { group in
            for seed in seeds {
                group.addTask { [self] in
                    var random = SeededGenerator(seed: seed)
                    await wait(for: target(depth: depth, &random), &random)
                }
            }
        }
    }

    private func wait(for target: AnyTaskOperation, _ random: inout SeededGenerator) async {
        switch random.number(below: 8) {
        case 0: try? await target.waitUntilFinished()
        case 1: try? await withTimeout(.microseconds(100)) { try await target.waitUntilFinished() }
        case 2: await withPermitLent { try? await target.waitUntilFinished() }
        case 3: await withPermitLent { await Task.yield() }
        case 4:
            try? await withTaskOperationQueue(maxConcurrentOperationCount: 1) { scope in
                _ = scope.addOperation { try? await target.waitUntilFinished() }
            }
        case 5: try? await queues[random.number(below: queues.count)].waitUntilAllOperationsAreFinished()
        case 6:
            let group = TaskOperationQueue().addGroup { group in
                _ = group.addOperation { try? await target.waitUntilFinished() }
            }
            try? await group.waitUntilFinished()
        default: try? await queues[random.number(below: queues.count)].run {}
        }
    }

    /// Returns a new operation, or a known one. A wait for a known operation may close a cycle; it is then refused.
    private func target(depth: Int, _ random: inout SeededGenerator) -> AnyTaskOperation {
        if depth > 0, random.happens(percent: 70) { return grow(depth: depth - 1, seed: random.next()) }
        return known.events.suffix(50).randomElement(using: &random) ?? TaskOperationQueue().addOperation {}
    }

    /// Performs a random action of another task.
    func disturb(_ random: inout SeededGenerator) {
        guard let other = known.events.suffix(20).randomElement(using: &random) else { return }
        switch random.number(below: 12) {
        case 3: queues[random.number(below: queues.count)].addBarrier {}
        case 0, 4, 5: other.cancel()
        case 1, 6: other.priority = .high
        case 2, 7: try? other.addDependency(queues[random.number(below: queues.count)].addOperation {})
        default: break
        }
    }
}
