import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Events of queues as a sequence", .inTurns, .endsInTime)
struct EventSequenceTests {
    @Test(
        "The sequence begins with the present state, has the events in order, and ends with the queue", .schedules(20))
    func wholeLife() async throws {
        let gate = Gate()
        var queue: TaskOperationQueue? = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let first = queue!.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let events = queue!.events
        async let all = {
            var all: [String] = []
            for await event in events { all.append("\(event.operationNumber) \(event.kind) \(event.isReplayed)") }
            return all
        }()
        await untilOthersWait()
        queue!.addOperation {}
        queue = nil
        gate.open()
        try await first.value
        let story = await all
        #expect(
            story == [
                "1 added true", "1 ready true", "1 started true", "2 added false", "2 ready false", "1 succeeded false",
                "2 started false", "2 succeeded false",
            ])
        for await event in events { Issue.record("\(event) of a queue that is gone") }
    }

    @Test("a buffer of the newest says how many it dropped before the first", .schedules(10))
    func newest() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        var iterator = queue.events.buffering(newest: 3).makeAsyncIterator()
        for _ in 0..<100 { queue.addOperation {} }
        var numbers: [UInt64] = []
        var missed: [Int] = []
        for _ in 0..<3 {
            let event = try #require(await iterator.next())
            numbers.append(event.number)
            missed.append(event.missedCount)
        }
        #expect(numbers == [198, 199, 200] && missed == [197, 0, 0])
        queue.addOperation {}
        #expect(await iterator.next()?.missedCount == 0)
    }

    @Test("The buffer keeps the newest 1,000 events, and the present state in addition", .schedules(2))
    func bound() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        for _ in 0..<1000 { queue.addOperation {} }
        var iterator = queue.events.makeAsyncIterator()
        // Each operation has the events "added" and "ready".
        for _ in 0..<501 { queue.addOperation {} }
        var (replayedCount, missedCount) = (0, 0)
        for _ in 0..<3000 {
            let event = try #require(await iterator.next())
            if event.isReplayed { replayedCount += 1 }
            missedCount += event.missedCount
        }
        #expect(replayedCount == 1998 && missedCount == 2)
        queue.cancelAllOperations()
    }

    @Test("cancelling the task ends it, and letting go of it stops the queue's telling")
    func cancelling() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let task = Task {
            var count = 0
            for await _ in queue.events { count += 1 }
            return count
        }
        queue.addOperation {}
        task.cancel()
        #expect(await task.value <= 2)
        for _ in 0..<1000 {
            let thrownAway = Task { for await event in queue.events where event.number == 0 { return } }
            thrownAway.cancel()
        }
        let journal = EventJournal()
        #expect(await eventually { !queue.isObserved })
        queue.addObserver(journal)
        #expect(queue.isObserved)
    }
}

extension TaskOperationQueue {
    fileprivate var isObserved: Bool { scheduler.withCore { $0.state.changes.isObserved } }
}
