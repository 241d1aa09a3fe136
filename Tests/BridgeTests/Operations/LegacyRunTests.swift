import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("A queue of ours runs operations of Foundation unchanged", .inTurns)
struct LegacyRunTests {
    @Test("a block, a synchronous and an asynchronous subclass run once, and finish")
    func kinds() async throws {
        let runs = Recorder<String>()
        let legacies: [Foundation.Operation] = [
            BlockOperation { runs.record("block") },
            SynchronousOperation { _ in runs.record("synchronous") },
            AsynchronousOperation { operation in
                runs.record("asynchronous")
                DispatchQueue.global().async { operation.finish() }
            },
            AsynchronousOperation { operation in
                runs.record("asynchronous, finished at once")
                operation.finish()
            },
        ]
        let queue = TaskOperationQueue()
        for legacy in legacies { try queue.addOperation(legacy) }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(legacies.map(\.isFinished) == [true, true, true, true])
        #expect(
            runs.events.sorted() == ["asynchronous", "asynchronous, finished at once", "block", "synchronous"])
    }

    @Test("a body runs where it may block, never on the cooperative pool")
    func place() async throws {
        #expect(CooperativePool.isCurrent)
        let places = Recorder<Bool>()
        let queue = TaskOperationQueue()
        try queue.addOperation(BlockOperation { places.record(CooperativePool.isCurrent) })
        try queue.addOperation(SynchronousOperation { _ in places.record(CooperativePool.isCurrent) })
        try queue.addOperation(
            AsynchronousOperation { operation in
                places.record(CooperativePool.isCurrent)
                operation.finish()
            })
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(places.events == [false, false, false])
    }

    @Test("an operation holds its permit for as long as it executes, however it does that")
    func width() async throws {
        let meter = ConcurrencyMeter()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        for number in 0..<40 {
            if number.isMultiple(of: 2) {
                try queue.addOperation(
                    AsynchronousOperation { operation in
                        meter.enter()
                        DispatchQueue.global().async {
                            meter.leave()
                            operation.finish()
                        }
                    })
            } else {
                try queue.addOperation(
                    BlockOperation {
                        meter.enter()
                        meter.leave()
                    })
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.total == 40)
        #expect(meter.most <= 2)
    }

    @Test("an asynchronous operation keeps others out at width 1 until it is finished")
    func permitOfAsynchronous() async throws {
        let gate = Gate()
        let events = Recorder<String>()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        try queue.addOperation(
            AsynchronousOperation { operation in
                Task {
                    await gate.pass()
                    events.record("first")
                    operation.finish()
                }
            })
        queue.addOperation { events.record("second") }
        await gate.waitForArrivals(1)
        #expect(queue.description.contains("1 executing"))
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(events.events == ["first", "second"])
    }

    @Test("dependencies between operations of Foundation hold, for any order of adding")
    func dependencies() async throws {
        let events = Recorder<Int>()
        let operations = (0..<50).map { number in BlockOperation { events.record(number) } }
        for number in 1..<50 { operations[number].addDependency(operations[number - 1]) }
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        for operation in operations.reversed() { try queue.addOperation(operation) }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(events.events == Array(0..<50))
    }

    /// An `OperationQueue` needs time proportional to the square of the length.
    @Test("a chain of thousands of operations of Foundation runs in its order")
    func longChain() async throws {
        let events = Recorder<Int>()
        let operations = (0..<5000).map { number in BlockOperation { events.record(number) } }
        for (former, latter) in zip(operations, operations.dropFirst()) { latter.addDependency(former) }
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        for operation in operations { try queue.addOperation(operation) }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(events.events == Array(0..<5000))
    }

    @Test("dependencies hold over an OperationQueue and a queue of ours")
    func dependenciesOverQueues() async throws {
        let events = Recorder<Int>()
        let operations = (0..<50).map { number in BlockOperation { events.record(number) } }
        for number in 1..<50 { operations[number].addDependency(operations[number - 1]) }
        let queue = TaskOperationQueue()
        let legacyQueue = OperationQueue()
        for (number, operation) in operations.enumerated() {
            if number.isMultiple(of: 3) {
                legacyQueue.addOperation(operation)
            } else {
                try queue.addOperation(operation)
            }
        }
        await operations[49].finished()
        #expect(events.events == Array(0..<50))
    }

    @Test("priority orders the operations of one step; without one, the quality of service does")
    func priority() async throws {
        let events = Recorder<String>()
        func operation(_ name: String) -> BlockOperation { BlockOperation { events.record(name) } }
        let (low, normal, veryHigh, urgent) = (
            operation("low"), operation("normal"), operation("very high"), operation("user-initiated")
        )
        low.queuePriority = .low
        veryHigh.queuePriority = .veryHigh
        urgent.qualityOfService = .userInitiated
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        try queue.addOperations([low, normal, veryHigh, urgent])
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(events.events == ["very high", "user-initiated", "normal", "low"])
    }

    @Test("a completion block is called once, for a run and for a cancelled operation")
    func completionBlock() async throws {
        let completions = Recorder<String>()
        let (run, cancelled) = (BlockOperation {}, BlockOperation {})
        let gate = Gate()
        let queue = TaskOperationQueue(.init(isSuspended: true))
        for (name, operation) in [("run", run), ("cancelled", cancelled)] {
            operation.completionBlock = {
                completions.record(name)
                Task { await gate.pass() }
            }
            try queue.addOperation(operation)
        }
        cancelled.cancel()
        queue.isSuspended = false
        await gate.waitForArrivals(2)
        try await queue.waitUntilAllOperationsAreFinished()
        gate.open()
        #expect(completions.events.sorted() == ["cancelled", "run"])
    }

    @Test("A legacy run throws no error of its own, and its cancellation is a CancellationError")
    func outcome() async throws {
        let queue = TaskOperationQueue()
        let good = try queue.addOperation(BlockOperation {})
        try await good.waitUntilFinished()
        #expect(good.failure == nil)
        let bad = BlockOperation { Issue.record("a cancelled operation ran") }
        bad.cancel()
        let runner = try queue.addOperation(bad)
        try await runner.waitUntilFinished()
        #expect(runner.failure is CancellationError)
        await bad.finished()
    }

    @Test("an operation that its class holds back starts once that says it is ready, and holds no permit until then")
    func ownReadiness() async throws {
        let events = Recorder<String>()
        let queue = TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 1)
        let conditional = ConditionalOperation(name: "conditional") { events.record("conditional") }
        let runner = try queue.addOperation(conditional)
        let other = queue.addOperation { events.record("other") }
        try await other.value
        #expect(runner.debugDescription.contains("waits for \"isReady of \"conditional\" (ConditionalOperation)\""))
        #expect(!conditional.isExecuting)
        conditional.fulfil()
        try await runner.waitUntilFinished()
        #expect(conditional.isFinished)
        #expect(events.events == ["other", "conditional"])
    }

    @Test("an operation that its class holds back can be cancelled meanwhile")
    func ownReadinessCancelled() async throws {
        let queue = TaskOperationQueue()
        let conditional = ConditionalOperation { Issue.record("a cancelled operation ran") }
        let runner = try queue.addOperation(conditional)
        runner.cancel()
        await conditional.finished()
        try await runner.waitUntilFinished()
        #expect(runner.failure is CancellationError)
    }

    @Test("a dependency that is added after the operation counts, too")
    func lateDependency() async throws {
        let events = Recorder<String>()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let (first, second) = (BlockOperation { events.record("first") }, BlockOperation { events.record("second") })
        try queue.addOperation(second)
        second.addDependency(first)
        try queue.addOperation(first)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(events.events == ["first", "second"])
    }

    @Test("where the queue has an executor, or is that of the main actor, an operation runs there")
    func ownPlace() async throws {
        let key = DispatchSpecificKey<String>()
        let dispatchQueue = DispatchQueue(label: "underlying")
        dispatchQueue.setSpecific(key: key, value: "underlying")
        DispatchQueue.main.setSpecific(key: key, value: "main")
        let places = Recorder<String?>()
        for queue in [TaskOperationQueue(underlyingQueue: dispatchQueue), .main] {
            let runner = try queue.addOperation(BlockOperation { places.record(DispatchQueue.getSpecific(key: key)) })
            try await runner.waitUntilFinished()
        }
        #expect(places.events == ["underlying", "main"])
    }

    @Test("operations of Foundation and of ours share the width and the barriers of a queue")
    func mixed() async throws {
        let events = Recorder<String>()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        for _ in 0..<4 { try queue.addOperation(BlockOperation { events.record("before") }) }
        queue.addBarrier { events.record("barrier") }
        for _ in 0..<4 { try queue.addOperation(BlockOperation { events.record("after") }) }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(
            events.events == Array(repeating: "before", count: 4) + ["barrier"] + Array(repeating: "after", count: 4))
    }
}
