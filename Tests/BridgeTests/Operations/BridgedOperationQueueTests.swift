import Dispatch
import Foundation
import Synchronization
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("An OperationQueue driven by a queue of ours", .inTurns)
struct BridgedOperationQueueTests {
    @Test("every way to add work runs it, in the order of adding at width 1")
    func adding() async throws {
        let events = Recorder<String>()
        let bridged = BridgedOperationQueue(name: "bridged", maxConcurrentOperationCount: 1)
        let queue: OperationQueue = bridged
        queue.isSuspended = true
        queue.addOperation { events.record("block") }
        queue.addOperation(BlockOperation { events.record("operation") })
        add([BlockOperation { events.record("one of several") }], to: queue)
        queue.addBarrierBlock { events.record("barrier") }
        try queue.addOperation(TaskOperation { events.record("ours") })
        bridged.taskQueue.addOperation { events.record("added to the task queue") }
        queue.addOperation(
            AsynchronousOperation { operation in
                events.record("asynchronous")
                DispatchQueue.global().async { operation.finish() }
            })
        queue.isSuspended = false
        await queue.finished()
        #expect(
            events.events == [
                "block", "operation", "one of several", "barrier", "ours", "added to the task queue", "asynchronous",
            ])
    }

    /// A synchronous wrapper: `addOperations` is unavailable in asynchronous contexts.
    private func add(_ operations: [Foundation.Operation], to queue: OperationQueue) {
        queue.addOperations(operations, waitUntilFinished: false)
    }

    private func wait(for queue: OperationQueue) {
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test("a barrier runs alone, also one that is added to an empty suspended queue")
    func barrier() async throws {
        let events = Recorder<String>()
        let queue = BridgedOperationQueue()
        queue.isSuspended = true
        queue.addBarrierBlock { events.record("barrier") }
        queue.addOperation { events.record("after") }
        #expect(events.events.isEmpty)
        queue.isSuspended = false
        try await onThread { wait(for: queue) }
        #expect(events.events == ["barrier", "after"])
    }

    @Test("no more execute at once than the width, which can be changed", arguments: [1, 2, 5])
    func width(width: Int) async {
        let meter = ConcurrencyMeter()
        let queue: OperationQueue = BridgedOperationQueue()
        #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
        queue.maxConcurrentOperationCount = 0
        for number in 0..<100 {
            let work: @Sendable () -> Void = {
                meter.enter()
                Thread.sleep(forTimeInterval: 0.0001)
                meter.leave()
            }
            if number.isMultiple(of: 2) {
                queue.addOperation(work)
            } else {
                queue.addOperation(BlockOperation(block: work))
            }
        }
        #expect(meter.total == 0)
        queue.maxConcurrentOperationCount = width
        #expect(queue.maxConcurrentOperationCount == width)
        await queue.finished()
        #expect(meter.total == 100)
        #expect(meter.most <= width)
    }

    @Test("two threads that set the width leave the same width in both queues")
    func widthOfTwoThreads() {
        for _ in 0..<10_000 {
            let queue = BridgedOperationQueue()
            DispatchQueue.concurrentPerform(iterations: 2) { queue.maxConcurrentOperationCount = 1 + $0 }
            #expect(queue.maxConcurrentOperationCount == queue.taskQueue.maxConcurrentOperationCount)
        }
    }

    @Test("blocks that block each get a thread, where the width allows it")
    func blockingBlocks() async {
        let queue = BridgedOperationQueue()
        let barrier = DispatchSemaphore(value: 0)
        let arrived = DispatchSemaphore(value: 0)
        for _ in 0..<20 {
            queue.addOperation {
                arrived.signal()
                barrier.wait()
            }
        }
        queue.addOperation {
            for _ in 0..<20 { arrived.wait() }
            for _ in 0..<20 { barrier.signal() }
        }
        await queue.finished()
    }

    @Test("the list and the number of operations are those of unfinished operations")
    func operations() async throws {
        let gate = DispatchSemaphore(value: 0)
        let queue: OperationQueue = BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 1)
        #expect(queue.operations.isEmpty)
        let first = BlockOperation { gate.wait() }
        first.name = "first"
        let second = BlockOperation {}
        queue.addOperation(first)
        queue.addOperation(second)
        queue.addOperation {}
        queue.addBarrierBlock {}
        #expect(queue.operationCount == 3)
        #expect(queue.operations.prefix(2) == [first, second])
        #expect(queue.operations.map(\.name) == ["first", nil, nil])
        #expect(queue.operations.contains(second))
        #expect(queue.operations.filter(\.isReady).count == 3)
        await until { first.isExecuting }
        #expect(queue.operations.map(\.isExecuting) == [true, false, false])
        queue.operations[1].cancel()
        #expect(second.isCancelled)
        await second.finished()
        queue.operations.last?.cancel()
        gate.signal()
        try await onThread { wait(for: queue) }
        #expect(queue.operationCount == 0)
        #expect(queue.operations.isEmpty)
    }

    @Test("listed operations can be awaited and used as dependencies")
    func dependingOnListed() async {
        let events = Recorder<String>()
        let queue: OperationQueue = BridgedOperationQueue()
        queue.isSuspended = true
        queue.addOperation { events.record("block") }
        let listed = queue.operations[0]
        let dependent = BlockOperation { events.record("dependent") }
        dependent.addDependency(listed)
        OperationQueue().addOperation(dependent)
        let onQueueOfOurs = TaskOperation { events.record("ours") }
        try? onQueueOfOurs.addDependency(listed)
        try? onQueueOfOurs.addDependency(dependent)
        try? TaskOperationQueue().addOperation(onQueueOfOurs)
        queue.isSuspended = false
        try? await onQueueOfOurs.value
        await listed.finished()
        #expect(listed.isFinished)
        #expect(events.events == ["block", "dependent", "ours"])
    }

    @Test("cancelling all operations cancels dependents before their dependencies could let them start")
    func cancelAllOfGraph() async {
        for _ in 0..<20 {
            let queue = BridgedOperationQueue()
            let runs = ConcurrencyMeter()
            let first = BlockOperation { runs.enter() }
            let never = BlockOperation {}
            first.addDependency(never)
            let others = (0..<20).map { _ in BlockOperation { runs.enter() } }
            for other in others { other.addDependency(first) }
            queue.addOperations([first] + others, waitUntilFinished: false)
            queue.cancelAllOperations()
            await queue.finished()
            #expect(runs.total == 0)
            #expect(others.filter(\.isCancelled).count == 20)
            never.start()
        }
    }

    @Test("an operation that this library cancels does not run, also if it becomes ready at this moment")
    func readyAsItIsCancelled() async {
        let runs = ConcurrencyMeter()
        let never = BlockOperation {}
        let operation = NotedCancellation {
            never.start()
            // Another operation is cancelled. When it has ended, all operations that were ready before have started.
            let other = BlockOperation {}
            let suspended = BridgedOperationQueue()
            suspended.isSuspended = true
            suspended.addOperation(other)
            suspended.cancelAllOperations()
            other.waitUntilFinished()
        }
        operation.addExecutionBlock { runs.enter() }
        operation.addDependency(never)
        let queue = BridgedOperationQueue()
        queue.addOperation(operation)
        queue.taskQueue.cancelAllOperations()
        await operation.finished()
        #expect(runs.total == 0)
        #expect(operation.isCancelled)
    }

    @Test("cancelling all marks the operations at once, and finishes those that have not started")
    func cancelAll() async {
        let gate = DispatchSemaphore(value: 0)
        let queue = BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 1)
        let executing = BlockOperation { gate.wait() }
        let waiting = BlockOperation { Issue.record("a cancelled operation ran") }
        queue.addOperation(executing)
        queue.addOperation(waiting)
        queue.addOperation { Issue.record("a cancelled block ran") }
        await until { executing.isExecuting }
        queue.cancelAllOperations()
        #expect(executing.isCancelled && waiting.isCancelled)
        await waiting.finished()
        #expect(!executing.isFinished)
        gate.signal()
        await queue.finished()
        #expect(queue.operationCount == 0)
    }

    @Test("name, quality of service and underlying queue are kept; the quality of service is the priority of blocks")
    func properties() async {
        let queue: OperationQueue = BridgedOperationQueue(name: "first")
        #expect(queue.name == "first")
        queue.name = "second"
        #expect(queue.name == "second")
        #expect(queue.qualityOfService == .default)
        queue.qualityOfService = .utility
        #expect(queue.qualityOfService == .utility)
        let priorities = Recorder<TaskPriority?>()
        queue.addOperation { priorities.record(AnyTaskOperation.current?.priority) }
        await queue.finished()
        #expect(priorities.events == [.low])
        #expect(queue.underlyingQueue == nil)
    }

    @Test("with an underlying queue everything runs on that")
    func underlyingQueue() async throws {
        let key = DispatchSpecificKey<Int>()
        let underlying = DispatchQueue(label: "underlying")
        underlying.setSpecific(key: key, value: 42)
        let queue: OperationQueue = BridgedOperationQueue()
        queue.underlyingQueue = underlying
        #expect(queue.underlyingQueue === underlying)
        let values = Recorder<Int?>()
        queue.addOperation { values.record(DispatchQueue.getSpecific(key: key)) }
        queue.addOperation(BlockOperation { values.record(DispatchQueue.getSpecific(key: key)) })
        queue.addBarrierBlock { values.record(DispatchQueue.getSpecific(key: key)) }
        await queue.finished()
        #expect(values.events == [42, 42, 42])
    }

    @Test("the current queue is known within its operations")
    func current() async throws {
        let queue = BridgedOperationQueue()
        let found = Recorder<Bool>()
        queue.addOperation {
            found.record(BridgedOperationQueue.current === queue)
            found.record(TaskOperationQueue.current === queue.taskQueue)
        }
        queue.addOperation(BlockOperation { found.record(BridgedOperationQueue.current === queue) })
        await queue.finished()
        #expect(found.events == [true, true, true])
        #expect(BridgedOperationQueue.bridged == nil)
    }

    @Test("an operation that never finishes is listed as executing, by its name")
    func neverFinishes() async {
        let queue = BridgedOperationQueue(name: "uploads")
        let legacy = AsynchronousOperation(name: "upload") { _ in }
        queue.addOperation(legacy)
        await until { legacy.isExecuting }
        #expect(queue.taskQueue.operations.map(\.name) == ["upload"])
        #expect(queue.taskQueue.operations.filter(\.isExecuting).count == 1)
        #expect(queue.debugDescription.contains("\"upload\" (executing"))
        legacy.finish()
        await queue.finished()
    }

    @Test("a notification is delivered on the queue, also one that is posted there")
    func notifications() async {
        let events = Recorder<String>()
        let queue = BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 1)
        let center = NotificationCenter()
        let (outer, inner) = (Notification.Name("outer"), Notification.Name("inner"))
        let observers = [
            center.addObserver(forName: outer, object: nil, queue: queue) { _ in
                events.record(BridgedOperationQueue.current === queue ? "outer" : "elsewhere")
                center.post(name: inner, object: nil)
            },
            center.addObserver(forName: inner, object: nil, queue: queue) { _ in events.record("inner") },
        ]
        center.post(name: outer, object: nil)
        await queue.finished()
        #expect(events.events == ["outer", "inner"])
        for observer in observers { center.removeObserver(observer) }
    }

    @Test("a queue that is released with operations finishes them, and then is gone")
    func release() async {
        weak var released: BridgedOperationQueue?
        let gate = DispatchSemaphore(value: 0)
        let operation = BlockOperation { gate.wait() }
        do {
            let queue = BridgedOperationQueue()
            queue.addOperation(operation)
            queue.addOperation {}
            released = queue
        }
        gate.signal()
        await operation.finished()
        await until { released == nil }
    }

    @Test("10,000 blocks of each kind run once each, added from several threads")
    func many() async {
        let meter = ConcurrencyMeter()
        let queue = BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 4)
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<2500 {
                        queue.addOperation { meter.enter() }
                        queue.addOperation(BlockOperation { meter.enter() })
                    }
                }
            }
        }
        await queue.finished()
        #expect(meter.total == 20_000)
        #expect(queue.operationCount == 0)
    }
}

/// Calls a function during the first call of `cancel()`, before the operation is marked as cancelled.
private final class NotedCancellation: BlockOperation, @unchecked Sendable {
    private let isFirst = Atomic(true)
    private let note: @Sendable () -> Void

    init(_ note: @escaping @Sendable () -> Void) {
        self.note = note
        super.init()
    }

    override func cancel() {
        if isFirst.exchange(false, ordering: .relaxed) { note() }
        super.cancel()
    }
}
