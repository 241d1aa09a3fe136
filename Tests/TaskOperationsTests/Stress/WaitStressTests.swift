import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// Random edges of the wait graph, added by several threads at once: dependencies, barriers, and bodies that wait for
/// operations or for the ends of queues.
@Suite("Random waits, on several threads", .inTurns, .serialized, .endsInTime)
struct WaitStressTests {
    @Test("Every operation ends, and every queue becomes empty", arguments: 0..<(isDeep ? 400 : 100))
    func random(seed: UInt64) async throws {
        let queues = (0..<3).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 2) }
        let added = Recorder<TaskOperation<Void>>()
        await onThreads(3) { thread in
            var random = SeededGenerator(seed: seed &* 100 &+ UInt64(thread))
            for _ in 0..<25 {
                let queue = queues[random.number(below: 3)]
                let operation = operation(queues, added, seed: random.next())
                let recent = added.events.suffix(12)
                if random.happens(percent: 25), let other = recent.randomElement(using: &random) {
                    try? operation.addDependency(other)
                }
                do {
                    if random.happens(percent: 25) {
                        try queue.addBarrier(operation)
                    } else {
                        try queue.addOperation(operation)
                    }
                } catch {
                    operation.cancel()
                }
                added.record(operation)
                if random.happens(percent: 33), let one = recent.randomElement(using: &random),
                    let other = recent.randomElement(using: &random)
                {
                    try? one.addDependency(other)
                }
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(added.events.count == 75 && added.events.allSatisfy(\.isFinished))
    }

    /// An operation whose body waits for the end of a queue or for another operation.
    private func operation(
        _ queues: [TaskOperationQueue], _ added: Recorder<TaskOperation<Void>>, seed: UInt64
    ) -> TaskOperation<Void> {
        TaskOperation {
            var random = SeededGenerator(seed: seed)
            if random.happens(percent: 50) {
                try? await queues[random.number(below: 3)].waitUntilAllOperationsAreFinished()
            } else {
                try? await added.events.randomElement(using: &random)?.value
            }
        }
    }
}
