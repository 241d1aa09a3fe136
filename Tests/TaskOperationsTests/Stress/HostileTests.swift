import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// Captured objects that call the library while they are freed. They are freed in every phase of the operation that
/// captures them, on several threads at once, and under every executor.
@Suite("Hostile captures and executors", .inTurns, .serialized, .endsInTime)
struct HostileTests {
    private static let threads = 4
    private static let rounds = 150

    @Test("All that is captured is freed, once, and nothing is lost", arguments: ExecutorKind.allCases)
    func captures(kind: ExecutorKind) async throws {
        let scene = HostileScene(executor: kind.make())
        await onThreads(Self.threads) { thread in
            var random = SeededGenerator(seed: UInt64(thread))
            for _ in 0..<Self.rounds {
                HostilePhase.allCases[random.number(below: HostilePhase.allCases.count)].play(in: scene, &random)
            }
        }
        scene.gate.open()
        for queue in scene.queues { queue.isSuspended = false }
        scene.semaphore.capacity = 1000
        for queue in scene.queues { try await queue.waitUntilAllOperationsAreFinished() }
        scene.letGo()
        #expect(await eventually { scene.notFreed.isEmpty }, "\(scene.notFreed)")
        for queue in scene.queues {
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(queue.operationCount == 0)
        }
    }
}

/// The calls that hostile captures make in a test.
final class HostileScene: Sendable {
    let queues: [TaskOperationQueue]
    let executor: (any TaskExecutor)?
    let gate = Gate()
    let semaphore = AsyncSemaphore(capacity: 1)
    /// The number of captures of each phase that are not freed.
    private let left = Lock<[HostilePhase: Int]>([:])
    private let known = Lock<[AnyTaskOperation]>([])

    init(executor: (any TaskExecutor)?) {
        self.executor = executor
        queues = (1...3).map {
            TaskOperationQueue(.init(maxConcurrentOperationCount: $0, isSuspended: $0 == 3, executor: executor))
        }
    }

    /// Returns an object that calls the library when it is freed.
    func capture(in phase: HostilePhase, _ random: inout SeededGenerator) -> Hostile {
        left.withLock { $0[phase, default: 0] += 1 }
        return Hostile(in: self, phase, seed: random.next())
    }

    var notFreed: [HostilePhase: Int] { left.withLock { $0.filter { $0.value != 0 } } }

    /// Keeps an operation so that freed captures can call it.
    func keep(_ operation: AnyTaskOperation) {
        let dropped = known.withLock { known -> AnyTaskOperation? in
            known.append(operation)
            return known.count > 20 ? known.removeFirst() : nil
        }
        withExtendedLifetime(dropped) {}
    }

    func letGo() {
        let all = known.withLock { known in
            defer { known = [] }
            return known
        }
        withExtendedLifetime(all) {}
    }

    fileprivate func freed(_ phase: HostilePhase, _ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let queue = queues[random.number(below: queues.count)]
        let known = known.withLock { $0 }
        let other = known.isEmpty ? nil : known[random.number(below: known.count)]
        switch random.number(below: 12) {
        case 0: queue.addOperation {}
        case 1: queue.addOperation {}.cancel()
        case 2: other?.cancel()
        case 3: other?.priority = [.low, .high][random.number(below: 2)]
        case 4: _ = queue.operations.count
        case 5: _ = queue.debugDescription
        case 6: _ = (AnyTaskOperation.current, TaskOperationQueue.current)
        case 7: if let other { try? TaskOperation {}.addDependency(other) }
        case 8: if let other { try? other.addDependency(queue.addOperation {}) }
        case 9: if semaphore.tryAcquire() { semaphore.release() }
        case 10: other?.addCompletionHandler {}
        default: queue.maxConcurrentOperationCount = 1 + random.number(below: 3)
        }
        left.withLock { $0[phase]! -= 1 }
    }
}

/// An object that calls the library when it is freed.
final class Hostile: Sendable {
    private let scene: HostileScene
    private let phase: HostilePhase
    private let seed: UInt64

    fileprivate init(in scene: HostileScene, _ phase: HostilePhase, seed: UInt64) {
        (self.scene, self.phase, self.seed) = (scene, phase, seed)
    }

    deinit { scene.freed(phase, seed) }
}
