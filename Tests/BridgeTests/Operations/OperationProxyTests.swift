import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("An operation of ours as one of Foundation", .inTurns)
struct OperationProxyTests {
    @Test("The proxy of an operation is always the same object, or the Foundation operation behind it")
    func identity() throws {
        let operation = TaskOperation(name: "ours") {}
        let face = operation.asOperation
        #expect(operation.asOperation === face)
        #expect(face.name == "ours")
        let legacy = BlockOperation {}
        let runner = try TaskOperationQueue(.init(isSuspended: true)).addOperation(legacy)
        #expect(runner.asOperation === legacy)
        legacy.cancel()
        runner.cancel()
    }

    @Test("A proxy has the states of its operation in their order, and finishes once")
    func states() async throws {
        let gate = Gate()
        let finished = Recorder<String>()
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation(priority: .high) { await gate.pass() }
        let face = operation.asOperation
        #expect(face.isAsynchronous)
        #expect(face.queuePriority == .high)
        #expect((face.isReady, face.isExecuting, face.isFinished, face.isCancelled) == (true, false, false, false))
        let dependent = BlockOperation { finished.record("dependent") }
        dependent.addDependency(face)
        #expect(!dependent.isReady)
        queue.isSuspended = false
        await gate.waitForArrivals(1)
        #expect((face.isExecuting, face.isFinished) == (true, false))
        gate.open()
        await face.finished()
        #expect((face.isExecuting, face.isFinished) == (false, true))
        OperationQueue().addOperation(dependent)
        await dependent.finished()
        #expect(finished.events == ["dependent"])
    }

    @Test("its completion block is called once, and blocked threads continue")
    func completion() async throws {
        let completions = Recorder<String>()
        let operation = TaskOperation {}
        let face = operation.asOperation
        await withCheckedContinuation { continuation in
            face.completionBlock = {
                completions.record("done")
                continuation.resume()
            }
            Thread.detachNewThread {
                face.waitUntilFinished()
                completions.record("waited")
            }
            _ = TaskOperationQueue().addOperation(dependencies: []) { try operation.start() }
        }
        await until { completions.events.count >= 2 }
        #expect(completions.events.sorted() == ["done", "waited"])
    }

    @Test("cancelling either cancels both")
    func cancellation() async throws {
        let (first, second) = (TaskOperation {}, TaskOperation {})
        first.asOperation.cancel()
        #expect(first.isCancelled && first.isFinished)
        let face = second.asOperation
        second.cancel()
        #expect(face.isCancelled)
        await face.finished()
        #expect(face.isFinished)
    }

    @Test("a cancelled face that an executing body has cancels the body's task")
    func cancellationOfExecuting() async throws {
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation {
            await gate.pass()
            try Task.checkCancellation()
        }
        await gate.waitForArrivals(1)
        operation.asOperation.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test("its dependencies are those of the operation, in both directions")
    func dependencies() async throws {
        let (first, second) = (TaskOperation {}, TaskOperation {})
        let legacy = BlockOperation {}
        try second.addDependency(first)
        let face = second.asOperation
        #expect(face.dependencies == [first.asOperation])
        #expect(!face.isReady)
        face.addDependency(legacy)
        #expect(Set(face.dependencies) == [first.asOperation, legacy])
        #expect(second.dependencies.count == 2)
        face.removeDependency(first.asOperation)
        #expect(second.dependencies.count == 1)
        let queue = TaskOperationQueue()
        try queue.addOperation(second)
        #expect(second.state == .waiting)
        OperationQueue().addOperation(legacy)
        try await second.value
    }

    @Test("a change of its priority is one of the operation's")
    func priority() {
        let operation = TaskOperation {}
        operation.asOperation.queuePriority = .veryLow
        #expect(operation.priority == .background)
        operation.priority = .high
        #expect(operation.asOperation.queuePriority == .high)
    }

    @Test("a released stand-in leaves no entry")
    func nothingLeaks() {
        weak var released: AnyTaskOperation?
        weak var releasedFace: Foundation.Operation?
        do {
            let operation = TaskOperation {}
            released = operation
            releasedFace = operation.asOperation
        }
        #expect(released == nil)
        #expect(releasedFace == nil)
    }
}

@Suite("An OperationQueue runs operations of ours", .inTurns)
struct OperationQueueOfTaskOperationsTests {
    @Test("A queue counts proxies in its width until they are finished", arguments: [1, 3])
    func width(width: Int) async throws {
        let meter = ConcurrencyMeter()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        var operations: [TaskOperation<Void>] = []
        for number in 0..<60 {
            if number.isMultiple(of: 3) {
                queue.addOperation {
                    meter.enter()
                    meter.leave()
                }
            } else {
                let operation = TaskOperation {
                    meter.enter()
                    await Task.yield()
                    meter.leave()
                }
                try queue.addOperation(operation)
                operations.append(operation)
            }
        }
        for operation in operations { try await operation.value }
        await queue.finished()
        #expect(meter.total == 60)
        #expect(meter.most <= width)
    }

    @Test("a face that is added by hand is run, too")
    func addedByHand() async throws {
        let gate = Gate()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operation = TaskOperation { await gate.pass() }
        queue.addOperation(operation.asOperation)
        let second = BlockOperation {}
        queue.addOperation(second)
        await gate.waitForArrivals(1)
        #expect(!second.isExecuting && !second.isFinished)
        #expect(queue.operationCount == 2)
        gate.open()
        try await operation.value
        await second.finished()
    }

    @Test("A queue starts no proxy with unfinished dependencies, and starts others meanwhile")
    func dependencies() async throws {
        let events = Recorder<String>()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (first, second, third) = (
            TaskOperation { events.record("first") }, TaskOperation { events.record("second") },
            TaskOperation { events.record("third") }
        )
        try second.addDependency(first)
        try third.addDependency(second)
        try queue.addOperation(second)
        queue.addOperation(third.asOperation)
        try queue.addOperation(first)
        try await third.value
        #expect(events.events == ["first", "second", "third"])
        await queue.finished()
    }

    @Test("a dependency on an operation that is never run can be removed")
    func removedDependency() async throws {
        let never = TaskOperation {}
        let operation = TaskOperation {}
        try operation.addDependency(never)
        let queue = OperationQueue()
        try queue.addOperation(operation)
        #expect(operation.state == .waiting)
        try operation.removeDependency(never)
        try await operation.value
    }

    @Test("A suspended queue starts no proxy, and a resumed queue starts the more urgent ones first")
    func suspensionAndPriority() async throws {
        let events = Recorder<String>()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let low = TaskOperation(priority: .low) { events.record("low") }
        let high = TaskOperation(priority: .high) { events.record("high") }
        try queue.addOperation(low)
        try queue.addOperation(high)
        #expect(low.state == .ready)
        queue.isSuspended = false
        try await low.value
        try await high.value
        #expect(events.events == ["high", "low"])
    }

    @Test("one that is cancelled before its start is finished at once, and leaves the queue in its turn")
    func cancellation() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = TaskOperation { Issue.record("a cancelled operation ran") }
        try queue.addOperation(operation)
        queue.cancelAllOperations()
        #expect(operation.isFinished)
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        await queue.finished()
        #expect(queue.operationCount == 0)
    }

    @Test("one that was cancelled before it is added is taken, and stays as it is")
    func cancelledBefore() async throws {
        let operation = TaskOperation { Issue.record("a cancelled operation ran") }
        operation.cancel()
        let queue = OperationQueue()
        try queue.addOperation(operation)
        await queue.finished()
    }

    @Test("one that has a queue is refused, and an OperationQueue that gets its face waits for it")
    func twoQueues() async throws {
        let ours = TaskOperationQueue(.init(isSuspended: true))
        let operation = ours.addOperation {}
        let queue = OperationQueue()
        #expect(throws: TaskOperationError.self) { try queue.addOperation(operation) }
        let other = TaskOperation {}
        queue.isSuspended = true
        try queue.addOperation(other)
        #expect(throws: TaskOperationError.self) { try queue.addOperation(other) }
        #expect(throws: TaskOperationError.self) { try ours.addOperation(other) }
        queue.isSuspended = false
        queue.addOperation(operation.asOperation)
        try await other.value
        ours.isSuspended = false
        try await operation.value
        await queue.finished()
    }

    @Test("the dependencies of a proxy are listed in their order, and each costs about the same among many")
    func manyDependencies() {
        let ratio = bestRatio(within: 4) { isLarge in
            let count = isLarge ? 3000 : 300
            let dependencies = (0..<count).map { _ in TaskOperation {}.asOperation }
            let start = threadTime()
            for _ in 0..<(3000 / count) {
                let proxy = TaskOperation {}.asOperation
                for dependency in dependencies { proxy.addDependency(dependency) }
                #expect(!proxy.isReady && proxy.dependencies == dependencies)
            }
            return threadTime() - start
        }
        #expect(ratio < 4, "a search among all dependencies would make it 10")
    }

    @Test("a proxy starts after its last dependency, even if the one that it has watched was removed")
    func removedWatchedDependency() async throws {
        let (ours, gate) = (TaskOperationQueue(.init(isSuspended: true)), Gate())
        let removed = ours.addOperation {}
        let last = TaskOperationQueue().addOperation { await gate.pass() }
        let operation = TaskOperation { 1 }
        let proxy = operation.asOperation
        proxy.addDependency(removed.asOperation)
        proxy.addDependency(last.asOperation)
        let queue = OperationQueue()
        queue.addOperation(proxy)
        #expect(!proxy.isReady)
        proxy.removeDependency(removed.asOperation)
        #expect(!proxy.isReady)
        gate.open()
        #expect(try await operation.value == 1)
        ours.cancelAllOperations()
    }

    @Test("a barrier of it waits for them, and they for it")
    func barrier() async throws {
        let events = Recorder<String>()
        let gate = Gate()
        let queue = OperationQueue()
        try queue.addOperation(
            TaskOperation {
                await gate.pass()
                events.record("before")
            })
        queue.addBarrierBlock { events.record("barrier") }
        let after = TaskOperation { events.record("after") }
        try queue.addOperation(after)
        await gate.waitForArrivals(1)
        gate.open()
        try await after.value
        #expect(events.events == ["before", "barrier", "after"])
    }
}
