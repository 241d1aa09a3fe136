import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

/// Each test runs in a separate process, because an observer of all queues affects the queues of other tests.
@Suite("Observers of all queues", .inTurns, .prompt, .endsInTime)
struct AllQueuesTests {
    @Test("they observe scopes, operations without a queue, and queues that are created later")
    func allQueues() async throws {
        await #expect(processExitsWith: .success) {
            let (before, journal) = (TaskOperationQueue(name: "before"), EventJournal())
            TaskOperationQueue.addObserver(journal)
            let after = TaskOperationQueue(name: "after")
            let names = ["in before", "in after", "in scope", "by hand"]
            try await before.addOperation(name: names[0]) {}.value
            try await after.addOperation(name: names[1]) {}.value
            try await withTaskOperationQueue(name: "scope") { try await $0.addOperation(name: names[2]) {}.value }
            let byHand = TaskOperation(name: names[3]) {}
            try byHand.start()
            try await byHand.value
            for name in names {
                #expect(await eventually { journal.isFinished(name) }, "\(name)")
            }
            #expect(journal.faults(ofOneQueue: false) == [])
            TaskOperationQueue.removeObserver(journal)
            try await before.addOperation(name: "too late") {}.value
            try await TaskOperationQueue().addOperation(name: "too late") {}.value
            #expect(!journal.isFinished("too late"))
        }
    }

    @Test("a sequence of all events continues while queues are created and released")
    func sequence() async throws {
        await #expect(processExitsWith: .success) {
            var iterator = TaskOperationQueue.events.makeAsyncIterator()
            for number in 0..<100 { try await TaskOperationQueue(name: "\(number)").addOperation {}.value }
            var ends: Set<String> = []
            while ends.count < 100, let event = await iterator.next() {
                if event.kind.isEnd, let name = event.queue.name { ends.insert(name) }
            }
            #expect(ends == Set((0..<100).map { "\($0)" }))
        }
    }
}

extension EventJournal {
    fileprivate func isFinished(_ name: String) -> Bool {
        events.contains { $0.operation.name == name && $0.kind.isEnd }
    }
}
