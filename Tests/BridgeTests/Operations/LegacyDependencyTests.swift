import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("An operation of ours depends on one of Foundation, and is depended on", .inTurns)
struct LegacyDependencyTests {
    @Test("An operation starts after a dependency that an OperationQueue runs")
    func onQueue() async throws {
        let events = Recorder<String>()
        let legacy = BlockOperation { events.record("legacy") }
        let legacyQueue = OperationQueue()
        legacyQueue.isSuspended = true
        legacyQueue.addOperation(legacy)
        let queue = TaskOperationQueue()
        let operation = queue.addOperation(dependencies: [legacy.asTaskOperation]) { events.record("ours") }
        #expect(operation.state == .waiting)
        legacyQueue.isSuspended = false
        try await operation.value
        #expect(events.events == ["legacy", "ours"])
    }

    @Test("An operation starts after a dependency that is queued later")
    func notYetQueued() async throws {
        let events = Recorder<String>()
        let legacy = AsynchronousOperation { operation in
            events.record("legacy")
            DispatchQueue.global().async { operation.finish() }
        }
        let operation = TaskOperation { events.record("ours") }
        try operation.addDependency(legacy)
        let queue = TaskOperationQueue()
        try queue.addOperation(operation)
        #expect(!operation.isReady)
        OperationQueue().addOperation(legacy)
        try await operation.value
        #expect(events.events == ["legacy", "ours"])
    }

    @Test("An operation with a finished dependency starts at once")
    func finished() async throws {
        let legacy = BlockOperation {}
        legacy.start()
        let operation = TaskOperation {}
        try operation.addDependency(legacy)
        #expect(operation.isReady)
        try TaskOperationQueue().addOperation(operation)
        try await operation.value
    }

    @Test("An operation starts after a queue has finished its cancelled dependency")
    func cancelled() async throws {
        let legacy = BlockOperation { Issue.record("a cancelled operation ran") }
        legacy.cancel()
        let operation = TaskOperation {}
        try operation.addDependency(legacy)
        #expect(operation.state == .waiting)
        try TaskOperationQueue().addOperation(operation)
        OperationQueue().addOperation(legacy)
        try await operation.value
        #expect(legacy.isFinished)
    }

    @Test("A finished operation lists its dependencies, as in an OperationQueue", arguments: [true, false])
    func listedAfterEnd(isBridged: Bool) async {
        let queue = isBridged ? BridgedOperationQueue() : OperationQueue()
        for _ in 0..<50 {
            let operations: [Foundation.Operation] = [
                BlockOperation {},
                AsynchronousOperation { operation in DispatchQueue.global().async { operation.finish() } },
                BlockOperation {},
            ]
            operations[1].addDependency(operations[0])
            operations[2].addDependency(operations[0])
            operations[2].addDependency(operations[1])
            for operation in operations.reversed() { queue.addOperation(operation) }
            for operation in operations { await operation.finished() }
            #expect(operations.map(\.dependencies) == [[], [operations[0]], [operations[0], operations[1]]])
        }
    }

    @Test("a dependency that is removed no longer holds it back")
    func removed() async throws {
        let never = BlockOperation {}
        let operation = TaskOperation {}
        try operation.addDependency(never)
        try operation.addDependency(never)
        #expect(operation.dependencies.count == 1)
        try TaskOperationQueue().addOperation(operation)
        try operation.removeDependency(never)
        try await operation.value
    }

    @Test("an operation whose dependents were released can finish")
    func dependentsAreReleased() async throws {
        let legacies = (0..<100).map { _ in BlockOperation {} }
        for legacy in legacies {
            let operation = TaskOperation {}
            try operation.addDependency(legacy)
        }
        let queue = OperationQueue()
        for legacy in legacies { queue.addOperation(legacy) }
        await queue.finished()
        #expect(legacies.filter(\.isFinished).count == 100)
    }

    @Test("an unfinished operation that is released with its dependents leaves no entry")
    func nothingLeaks() throws {
        weak var released: BlockOperation?
        do {
            let legacy = BlockOperation {}
            let operation = TaskOperation {}
            try operation.addDependency(legacy)
            released = legacy
        }
        #expect(released == nil)
    }

    @Test("waiting for an operation does not block, and leaves its completion block alone")
    func waiting() async throws {
        let gate = Gate()
        let completions = Recorder<String>()
        let legacy = AsynchronousOperation { operation in
            Task {
                await gate.pass()
                operation.finish()
            }
        }
        await withCheckedContinuation { continuation in
            legacy.completionBlock = {
                completions.record("own")
                continuation.resume()
            }
            OperationQueue().addOperation(legacy)
            Task {
                async let first: Void = legacy.finished()
                async let second: Void = legacy.finished()
                await gate.waitForArrivals(1)
                gate.open()
                _ = await (first, second)
                #expect(legacy.isFinished)
            }
        }
        await legacy.finished()
        #expect(completions.events == ["own"])
    }

    @Test("a body that waits for an operation behind it lends its permit")
    func waitingLendsThePermit() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let legacy = BlockOperation {}
        let operation = queue.addOperation { await legacy.finished() }
        try queue.addOperation(legacy)
        try await operation.value
    }

    @Test("an operation of Foundation starts after one of ours")
    func legacyAfterOurs() async throws {
        let events = Recorder<String>()
        let gate = Gate()
        let queue = TaskOperationQueue()
        let operation = queue.addOperation {
            await gate.pass()
            events.record("ours")
        }
        let legacy = BlockOperation { events.record("legacy") }
        try legacy.addDependency(operation)
        OperationQueue().addOperation(legacy)
        #expect(!legacy.isReady)
        gate.open()
        await legacy.finished()
        #expect(events.events == ["ours", "legacy"])
    }

    @Test("a dependency of an operation of Foundation can be removed")
    func legacyRemoved() async throws {
        let operation = TaskOperation {}
        let legacy = BlockOperation {}
        try legacy.addDependency(operation)
        #expect(legacy.dependencies == [operation.asOperation])
        legacy.removeDependency(operation)
        #expect(legacy.dependencies.isEmpty)
    }

    /// On Linux, Foundation counts a dependency that is removed before its end as unfinished forever.
    @Test("an operation of Foundation starts after a dependency on one of ours was removed", arguments: [false, true])
    func legacyStartsAfterRemoval(isOnOurQueue: Bool) async throws {
        let legacy = BlockOperation {}
        let operation = TaskOperation {}
        try legacy.addDependency(operation)
        legacy.removeDependency(operation)
        #expect(legacy.isReady)
        if isOnOurQueue { try TaskOperationQueue().addOperation(legacy) } else { OperationQueue().addOperation(legacy) }
        await legacy.finished()
    }

    enum Removal: CaseIterable { case byFoundation, beforeAdding, afterAdding }

    @Test(
        "An operation with a second dependency starts after that one is finished", .schedules(20),
        arguments: Removal.allCases)
    func legacyStartsAfterOther(removal: Removal) async throws {
        let queue = TaskOperationQueue()
        let (legacy, other, never) = (BlockOperation {}, BlockOperation {}, TaskOperation {})
        legacy.addDependency(other)
        try legacy.addDependency(never)
        if removal == .byFoundation { legacy.removeDependency(never.asOperation) }
        if removal == .beforeAdding { legacy.removeDependency(never) }
        let node = try queue.addOperation(legacy)
        if removal == .afterAdding { legacy.removeDependency(never) }
        await untilOthersWait()
        #expect(node.state == .waiting)
        try queue.addOperation(other)
        await legacy.finished()
        #expect(other.isFinished)
    }

    @Test("a circle over both worlds is refused by name, from either side")
    func cycles() throws {
        let operation = TaskOperation(name: "ours") {}
        let legacy = BlockOperation {}
        legacy.name = "legacy"
        try operation.addDependency(legacy)
        #expect {
            try legacy.addDependency(operation)
        } throws: { error in
            guard case TaskOperationError.dependencyCycle(let labels) = error else { return false }
            return labels.count == 3 && "\(error)".contains("ours") && "\(error)".contains("legacy")
        }

        let other = TaskOperation(name: "other") {}
        let otherLegacy = BlockOperation {}
        try otherLegacy.addDependency(other)
        #expect(throws: TaskOperationError.self) { try other.addDependency(otherLegacy) }
    }

    @Test("a dependency on an operation of a queue of this package raises its priority")
    func escalation() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let legacy = BlockOperation {}
        let runner = try queue.addOperation(legacy)
        let urgent = TaskOperation(priority: .high) {}
        try urgent.addDependency(legacy)
        #expect(urgent.dependencies == [runner])
        try queue.addOperation(urgent)
        #expect(runner.effectivePriority == .high)
        queue.isSuspended = false
        try await urgent.value
    }
}
