import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("The scheduler is an actor that is entered with and without waiting", .inTurns, .timeLimit(.minutes(120)))
struct SchedulerActorTests {
    @Test("An awaited call takes effect, and its effects are performed")
    func awaited() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let operations = (0..<10).map { number in queue.addOperation { number } }
        #expect(await queue.scheduler.count == 10)
        await queue.scheduler.resume()
        for (number, operation) in operations.enumerated() { #expect(try await operation.value == number) }
        #expect(await queue.scheduler.isEmpty)
    }

    @Test("Tasks that await and threads that enter exclude each other")
    func bothWays() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 0)
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        if number % 2 == 0 { await queue.scheduler.widen() } else { queue.scheduler.widenAtOnce() }
                    }
                }
            }
        }
        #expect(queue.maxConcurrentOperationCount == 4000)
    }
}

extension Scheduler {
    fileprivate var count: Int { apply { $0.state.count } }
    fileprivate var isEmpty: Bool { apply { $0.state.isEmpty } }

    fileprivate func resume() { apply { $0.state.setSuspended(false) } }

    fileprivate func widen() { apply { $0.state.setWidth($0.state.width.capacity + 1) } }

    fileprivate nonisolated func widenAtOnce() {
        withCore { $0.state.setWidth($0.state.width.capacity + 1) }
    }
}
