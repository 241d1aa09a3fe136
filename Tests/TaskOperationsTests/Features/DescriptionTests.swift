import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Descriptions", .inTurns, .endsInTime)
struct DescriptionTests {
    @Test("An operation says its name, its state, and whether it is cancelled")
    func operationDescription() async throws {
        let dependency = TaskOperation(name: "load") {}
        let operation = TaskOperation(name: "show", dependencies: [dependency]) {}
        #expect(dependency.description == "\"load\" (ready)")
        #expect(operation.description == "\"show\" (waiting)")
        operation.cancel()
        #expect(operation.description == "\"show\" (finished, cancelled)")
        let unnamed = TaskOperation {}
        #expect(unnamed.description.hasPrefix("unnamed operation 0x"))
        #expect(unnamed.description.hasSuffix(" (ready)"))
    }

    @Test("The long description names the unfinished dependencies, and only these")
    func waitingForDependencies() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let (first, second) = (TaskOperation(name: "first") {}, TaskOperation(name: "second") {})
        try first.start()
        try await first.value
        let operation = queue.addOperation(name: "last", priority: .low, dependencies: [first, second]) {}
        #expect(operation.debugDescription == "\"last\" (waiting, priority low, waits for \"second\")")
        queue.cancelAllOperations()
    }

    @Test("The long description names the operations that an executing body awaits")
    func awaiting() async throws {
        let queue = TaskOperationQueue(.init(name: "other", isSuspended: true))
        let awaited = queue.addOperation(name: "awaited") {}
        let one = TaskOperationQueue().addOperation(name: "one") { try await awaited.value }
        let all = TaskOperationQueue().addOperation(name: "all") {
            try await queue.waitUntilAllOperationsAreFinished()
        }
        await until { one.debugDescription == "\"one\" (executing, priority medium, awaits \"awaited\")" }
        await until {
            all.debugDescription
                == "\"all\" (executing, priority medium, awaits the end of all operations in queue \"other\")"
        }
        queue.isSuspended = false
        try await one.value
        try await all.value
    }

    @Test("The long description has the outcome and the effective priority")
    func outcomesAndPriorities() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let failed = queue.addOperation(name: "failed") { throw WorkFailed(number: 4) }
        let raised = queue.addOperation(name: "raised", priority: .background) {}
        let urgent = queue.addOperation(name: "urgent", priority: .high, dependencies: [raised]) {}
        let cancelled = queue.addOperation(name: "cancelled") {}
        #expect(raised.debugDescription.contains("priority background, escalated to high"))
        cancelled.cancel()
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(failed.debugDescription == "\"failed\" (finished, priority medium, failed: WorkFailed(number: 4))")
        #expect(urgent.debugDescription == "\"urgent\" (finished, priority high, succeeded)")
        #expect(
            cancelled.debugDescription
                == "\"cancelled\" (finished, cancelled, priority medium, failed: CancellationError())")
    }

    @Test("A queue says how much it has to do, and in the long form lists its operations in order")
    func queueDescription() async throws {
        let queue = TaskOperationQueue(name: "images", maxConcurrentOperationCount: 2)
        let gate = Gate()
        let executing = (0..<2).map { queue.addOperation(name: "\($0)") { await gate.pass() } }
        await gate.waitForArrivals(2)
        queue.addOperation(name: "2") {}
        queue.addOperation(name: "3", dependencies: executing) {}
        #expect(queue.description == "queue \"images\" (width 2, 2 executing, 1 ready, 1 waiting)")
        let lines = queue.debugDescription.split(separator: "\n")
        #expect(lines.first.map(String.init) == queue.description)
        #expect(lines.dropFirst().map { $0.prefix(5) } == (0..<4).map { "  \"\($0)\"" })
        #expect(lines.last?.contains("waits for \"0\", \"1\"") == true)
        queue.shutDown()
        queue.isSuspended = true
        #expect(
            queue.description
                == "queue \"images\" (width 2, suspended, shut down, 2 executing, 1 ready, 1 waiting)")
        gate.open()
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        let unlimited = TaskOperationQueue(
            maxConcurrentOperationCount: .max)
        #expect(unlimited.description == "an unnamed queue (width unlimited, 0 executing, 0 ready, 0 waiting)")
    }

    @Test("A body that has lent its permit is counted as such, not as executing")
    func lentPermits() async throws {
        let queue = TaskOperationQueue(name: "q", maxConcurrentOperationCount: 1)
        let gate = Gate()
        let operation = try await LentBody(on: queue, until: gate).body
        #expect(queue.description == "queue \"q\" (width 1, 0 executing, 1 awaiting others, 0 ready, 0 waiting)")
        gate.open()
        try await operation.value
    }
}
