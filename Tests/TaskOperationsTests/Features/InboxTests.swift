import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("The inbox of a busy queue", .inTurns, .endsInTime)
struct InboxTests {
    /// A queue of width 1, whose only operation executes until the gate is opened.
    private func busyQueue(until gate: Gate) async -> TaskOperationQueue {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = queue.addOperation { await gate.pass() }
        #expect(await eventually { operation.isExecuting })
        return queue
    }

    @Test("A thread that adds to a busy queue does not take the queue's lock")
    func addsWithoutLock() async throws {
        let gate = Gate()
        let queue = await busyQueue(until: gate)
        // Would deadlock if it took the lock.
        let operations = queue.scheduler.withCore { _ in (0..<3).map { number in queue.addOperation { number } } }
        #expect(queue.operationCount == 4)
        #expect(Array(queue.operations.dropFirst()) == operations)
        gate.open()
        for (number, operation) in operations.enumerated() { #expect(try await operation.value == number) }
    }

    @Test("A thread that adds an operation with options to a busy queue does not take the queue's lock either")
    func addsOptionsWithoutLock() async throws {
        let (gate, limit) = (Gate(), AsyncSemaphore(capacity: 1))
        let queue = await busyQueue(until: gate)
        let all: [OperationOptions] = [
            .weight(2), .limit(limit), .timeout(.seconds(600)), .timeout(untilStart: .seconds(600)),
            .timeout(untilEnd: .seconds(600)), .delay(.milliseconds(1)), .priority(.high),
        ]
        let operations = queue.scheduler.withCore { _ in
            all.map { options in queue.addOperation(options) { limit.available } }
        }
        let late = queue.addOperation(.timeout(untilStart: .zero)) { 0 }
        #expect(await eventually { late.isFinished }, "it ends at once, while the queue is busy")
        let cancelled = queue.addOperation(.limit(limit)) { 0 }
        cancelled.cancel()
        #expect(cancelled.isFinished && queue.operationCount == 1 + all.count)
        gate.open()
        for (number, operation) in operations.enumerated() {
            #expect(try await operation.value == (number == 1 ? 0 : 1))
        }
        #expect(await eventually { limit.available == 1 })
    }

    @Test("More operations than the inbox has room for keep their order")
    func manyOperations() async throws {
        let (gate, started) = (Gate(), Recorder<Int>())
        let queue = await busyQueue(until: gate)
        for number in 0..<1000 { queue.addOperation { started.record(number) } }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(started.events == Array(0..<1000))
    }

    @Test("The inbox is open for all levels while no permit is free, and closed while the queue is empty")
    func levels() async throws {
        let gate = Gate()
        let queue = await busyQueue(until: gate)
        #expect(queue.openInboxLevel == .userInteractive)
        queue.maxConcurrentOperationCount = 2
        #expect(queue.openInboxLevel == nil)
        queue.maxConcurrentOperationCount = 1
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.openInboxLevel == nil)
    }

    /// The changes after which each addition must enter the scheduler.
    private static let closings: [@Sendable (TaskOperationQueue) -> Void] = [
        { $0.addBarrier {} },
        { $0.rate = .perSecond(1_000_000, burst: 100) },
        { $0.maxQueuedOperationCount = 10 },
        { $0.addObserver(EventJournal()) },
        { $0.scheduler.willBeAwaited() },
        { $0.shutDown() },
    ]

    @Test("The inbox is closed while an addition may have effects", arguments: closings.indices)
    func closing(index: Int) async throws {
        let gate = Gate()
        let queue = await busyQueue(until: gate)
        #expect(queue.openInboxLevel == .userInteractive)
        Self.closings[index](queue)
        #expect(queue.openInboxLevel == nil)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An operation starts at once while one with limits executes and a permit is free")
    func besideLimits() async throws {
        let (gate, limitedGate) = (Gate(), Gate())
        let queue = await busyQueue(until: gate)
        let limited = queue.addOperation(.limit(AsyncSemaphore(capacity: 1))) { await limitedGate.pass() }
        gate.open()
        #expect(await eventually { limited.isExecuting })
        queue.maxConcurrentOperationCount = 2
        let added = queue.addOperation {}
        #expect(await eventually { added.isFinished })
        limitedGate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

extension TaskOperationQueue {
    fileprivate var openInboxLevel: PriorityLevel? { scheduler.withCore { $0.openInboxLevel } }
}
