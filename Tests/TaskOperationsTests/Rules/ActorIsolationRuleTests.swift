import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 22: bodies isolated to an actor", .inTurns, .endsInTime)
struct ActorIsolationRuleTests {
    @Test("A body isolated to the main actor runs there, from queues of every kind")
    func mainActor() async throws {
        let queues = [TaskOperationQueue(), TaskOperationQueue(.init(executor: SingleThreadExecutor())), .main]
        for queue in queues {
            let operation = queue.addOperation { @MainActor in
                let before = MainThread.isCurrent
                await Task.yield()
                return before && MainThread.isCurrent
            }
            #expect(try await operation.value)
        }
    }

    @Test("An actor protects its bodies, for any width")
    func globalActor() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        let before = await Registry.count
        for _ in 0..<1000 {
            queue.addOperation { @Registry in
                Registry.shared.assertIsolated()
                Registry.count += 1
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await Registry.count == before + 1000)
    }

    @Test("The permit is held while the body runs on its actor", .schedules(20))
    func permitIsHeld() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let meter = ConcurrencyMeter()
        let isolated = queue.addOperation { @MainActor in await meter.measure { await gate.pass() } }
        let others = (0..<20).map { number in
            number.isMultiple(of: 2)
                ? queue.addOperation { await meter.measure { await Task.yield() } }
                : queue.addOperation { @MainActor in await meter.measure { await Task.yield() } }
        }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        #expect(isolated.isExecuting)
        #expect(others.allSatisfy { $0.isReady })
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect((meter.total, meter.most) == (21, 1))
    }

    @Test("One that needs values, and is isolated to an actor, runs there too")
    func withInputs() async throws {
        let queue = TaskOperationQueue()
        let input = queue.addOperation { 20 }
        let operation = queue.addOperation(after: input) { @MainActor in
            $0 == 20 && MainThread.isCurrent
        }
        #expect(try await operation.value)
    }

    @Test("The next operation of the same queue does not run on the actor")
    func leavesTheActor() async throws {
        let executor = SingleThreadExecutor()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor))
        for _ in 0..<20 {
            let isolated = queue.addOperation { @MainActor in executor.isCurrent }
            let plain = queue.addOperation { executor.isCurrent }
            #expect(try await isolated.value == false)
            #expect(try await plain.value == true)
        }
    }
}

/// A global actor with a state to protect.
@globalActor
private actor Registry {
    static let shared = Registry()
    @Registry static var count = 0
}
