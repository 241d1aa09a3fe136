import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Observers under hostile conditions", .inTurns, .endsInTime)
struct HostileObserverTests {
    /// Calls the library when it is freed.
    private final class CallingWitness: Sendable {
        private let queue: TaskOperationQueue

        init(_ queue: TaskOperationQueue) {
            self.queue = queue
        }

        deinit { queue.addOperation {} }
    }

    @Test("on an executor that runs jobs inline, every event is reported once and in order")
    func inlineExecutor() async throws {
        let journal = EventJournal()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: InlineExecutor()))
        queue.addObserver(journal)
        var last: AnyTaskOperation?
        for _ in 0..<2000 { last = queue.addOperation(dependencies: last.map { [$0] } ?? []) {} }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { journal.events.count { $0.kind.isEnd } == 2000 })
        #expect(journal.faults() == [])
    }

    @Test("values that are freed with an event, or with the observer, may call the library")
    func freeing() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        do {
            let witness = CallingWitness(queue)
            let journal = EventJournal { _ in withExtendedLifetime(witness) {} }
            queue.addObserver(journal)
            for _ in 0..<100 {
                let captured = CallingWitness(queue)
                queue.addOperation { withExtendedLifetime(captured) {} }
                queue.addOperation { withExtendedLifetime(captured) {} }.cancel()
            }
            try await queue.waitUntilAllOperationsAreFinished()
            queue.removeObserver(journal)
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { queue.operationCount == 0 })
    }

    @Test("observers, sequences and snapshots are added and removed while threads change and release the queue")
    func comingAndGoing() async throws {
        for _ in 0..<(isDeep ? 20 : 5) {
            let queues = (0..<2).map { TaskOperationQueue(name: "\($0)", maxConcurrentOperationCount: 2) }
            await concurrentPerform(over: 0..<4, width: 4) { part in
                for number in 0..<50 {
                    let journal = EventJournal()
                    queues[number % 2].addObserver(journal)
                    let operation = queues[(number + part) % 2].addOperation {}
                    if number.isMultiple(of: 3) { operation.cancel() }
                    _ = operation.waitingReasons
                    if number.isMultiple(of: 10) { _ = TaskOperationQueue.snapshot(of: queues) }
                    var iterator = queues[number % 2].events.buffering(newest: 2).makeAsyncIterator()
                    queues[number % 2].removeObserver(journal)
                    queues[number % 2].addOperation {}
                    _ = await iterator.next()
                    #expect(journal.faults() == [])
                }
            }
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        }
    }
}
