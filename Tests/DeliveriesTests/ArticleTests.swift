import Distributed
import TaskOperations
import TaskOperationsDeliveries
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

/// The snippets of Documentation/Deliveries.md.
@Suite("Beyond one machine: the article's examples", .timeLimit(.minutes(10)))
struct ArticleTests {
    @Test("one stream for each priority on one queue: urgent deliveries are done first", .seeds(20))
    func priorities() async {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: .seeded))
        let clock = ManualClock(on: .seeded)
        let order = Recorder<String>()
        let engines = [("bulk", TaskPriority.low), ("ordinary", .medium), ("urgent", .high)].map { name, priority in
            let engine = InMemoryEngine<String>(lease: .seconds(30), clock: clock)
            for _ in 0..<3 { engine.send(name) }
            engine.finish()
            return (engine, priority)
        }
        queue.isSuspended = true
        await withTaskGroup { group in
            for (stream, priority) in engines {
                var configuration = ConsumerConfiguration()
                configuration.clock = clock
                configuration.options.operation = .priority(priority)
                group.addTask { [configuration] in
                    await queue.consume(stream.deliveries(), configuration: configuration) { name in
                        order.record(name)
                        // Other consumers come to ask for their turns.
                        for _ in 0..<50 { await Task.yield() }
                    }
                }
            }
            for _ in 0..<100 { await Task.yield() }
            queue.isSuspended = false
        }
        #expect(order.events.count == 9)
        // A delivery that was pulled before a more urgent one arrived waits at most for its start.
        #expect(order.events.lastIndex(of: "urgent")! < order.events.lastIndex(of: "bulk")!)
    }

    @Test("a distributed actor whose work a queue admits")
    func distributedActor() async throws {
        let resizer = Resizer(actorSystem: LocalTestingDistributedActorSystem())
        let sizes = try await withThrowingTaskGroup { group in
            for size in 1...10 { group.addTask { try await resizer.resize(size) } }
            return try await group.reduce(0, +)
        }
        #expect(sizes == 110)
    }
}

private distributed actor Resizer {
    typealias ActorSystem = LocalTestingDistributedActorSystem

    private let queue = TaskOperationQueue(name: "resize", maxConcurrentOperationCount: 2)

    /// Callers wait for the admission of this machine.
    distributed func resize(_ size: Int) async throws -> Int {
        try await queue.run { size * 2 }
    }
}
