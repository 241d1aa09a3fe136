import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Bounded queues", .inTurns, .endsInTime)
struct BoundedQueueTests {
    @Test("An operation that is added to a full queue fails at once, and queued ones are not changed")
    func refusing() async throws {
        let queue = TaskOperationQueue(.init(name: "small", maxQueuedOperationCount: 2, isSuspended: true))
        let pending = (0..<2).map { number in queue.addOperation { number } }
        let late = queue.addOperation(name: "late") { 9 }
        let text = "\(try #require(late.failure))"
        #expect(text.contains("\"late\" was added to queue \"small\", which is full"))
        #expect(queue.operationCount == 2)
        queue.isSuspended = false
        #expect(try await pending[0].value == 0)
        #expect(try await pending[1].value == 1)
        #expect(try await queue.addOperation { 3 }.value == 3)
    }

    @Test("Executing operations need no room, and each start makes room")
    func executingIsNotPending() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, maxQueuedOperationCount: 1))
        let gate = Gate()
        for number in 1...2 {
            queue.addOperation { await gate.pass() }
            await gate.waitForArrivals(number)
        }
        let pending = queue.addOperation {}
        #expect(queue.addOperation {}.failure != nil)
        pending.cancel()
        #expect(queue.addOperation {}.failure == nil)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An idle queue has room for its width and its limit, before its workers have begun, too", arguments: 0..<20)
    func idle(round: Int) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 8, maxQueuedOperationCount: 1))
        let gate = Gate()
        let operations = (0..<10).map { _ in queue.addOperation { await gate.pass() } }
        #expect(operations.map { $0.failure != nil } == (0..<10).map { $0 == 9 })
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An idle queue drops the oldest operation for which no permit is free")
    func idleDropping() async throws {
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 3, maxQueuedOperationCount: 2, overflow: .dropOldest,
                executor: HoldingExecutor()))
        let operations = (0..<8).map { _ in queue.addOperation {} }
        #expect(operations.map(\.isFinished) == (0..<8).map { (3...5).contains($0) })
        queue.cancelAllOperations()
    }

    @Test("An observer learns that a dropped operation failed")
    func droppedAsObserved() async throws {
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 1, overflow: .dropOldest, isSuspended: true))
        let journal = EventJournal()
        queue.addObserver(journal)
        let dropped = queue.addOperation {}
        let kept = queue.addOperation {}
        let story = journal.story(of: dropped)
        #expect(story.count == 3 && story.last?.hasPrefix("failed") == true)
        #expect(journal.story(of: kept) == ["added", "ready"])
        #expect(journal.faults() == [])
        queue.cancelAllOperations()
    }

    @Test("A full queue drops the oldest queued operation")
    func dropping() async throws {
        let queue = TaskOperationQueue(
            .init(
                name: "latest", maxConcurrentOperationCount: 1, maxQueuedOperationCount: 2, overflow: .dropOldest,
                isSuspended: true))
        let recorder = Recorder<Int>()
        let operations = (0..<5).map { number in
            queue.addOperation(name: "\(number)", priority: number == 0 ? .high : .medium) { recorder.record(number) }
        }
        let kept = [3, 4]
        for (number, operation) in operations.enumerated() {
            #expect(operation.isFinished == !kept.contains(number))
            guard let failure = operation.failure else { continue }
            #expect("\(failure)".contains("\"\(number)\" was dropped from queue \"latest\""))
        }
        #expect(queue.operationCount == 2)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events == kept)
    }

    @Test("An added operation drops one operation, even if more operations are queued than a lowered limit allows")
    func droppingAfterLowering() async throws {
        let queue = TaskOperationQueue(.init(overflow: .dropOldest, isSuspended: true))
        let operations = (0..<4).map { number in queue.addOperation { number } }
        queue.maxQueuedOperationCount = 2
        queue.addOperation {}
        #expect(operations.map(\.isFinished) == (0..<4).map { $0 == 0 })
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("One that is refused, as it would close a cycle, drops nothing")
    func refusedBehindBarrier() async throws {
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 2, overflow: .dropOldest, isSuspended: true))
        let late = TaskOperation {}
        queue.addBarrier(dependencies: [late]) {}
        let pending = queue.addOperation {}
        #expect(throws: TaskOperationError.self) { try queue.addOperation(late) }
        #expect(!pending.isFinished)
        try TaskOperationQueue().addOperation(late)
        queue.isSuspended = false
        try await pending.value
    }

    @Test("Dependents of a dropped operation start, and its handlers are called")
    func droppedDependency() async throws {
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 1, overflow: .dropOldest, isSuspended: true))
        let other = TaskOperationQueue()
        let (dropped, handled) = (queue.addOperation {}, Gate())
        dropped.addCompletionHandler { handled.open() }
        let dependent = other.addOperation(dependencies: [dropped]) { 1 }
        let needing = other.addOperation(after: dropped) { _ in 2 }
        queue.addOperation {}
        #expect(try await dependent.value == 1)
        await handled.pass()
        await #expect(throws: TaskOperationError.self) { try await needing.value }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An operation that had ended before it is added needs no room, and drops no other")
    func endedBefore() async throws {
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 1, overflow: .dropOldest, isSuspended: true))
        let pending = queue.addOperation { 1 }
        let cancelled = TaskOperation {}
        cancelled.cancel()
        try queue.addOperation(cancelled)
        #expect(!pending.isFinished)
        queue.isSuspended = false
        #expect(try await pending.value == 1)
    }

    @Test("Of a batch so many are taken as there is room for")
    func batch() async throws {
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 3, isSuspended: true))
        let operations = (0..<5).map { number in TaskOperation { number } }
        try queue.addOperations(operations)
        #expect(operations.map(\.isFinished) == [false, false, false, true, true])
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("No more are pending than may be, however many threads add and cancel", arguments: [1, 7])
    func storm(limit: Int) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, maxQueuedOperationCount: limit))
        let finished = Recorder<Bool>()
        await withTaskGroup { group in
            for adder in 0..<4 {
                group.addTask {
                    for number in 0..<500 {
                        let operation = queue.addOperation { await Task.yield() }
                        operation.addCompletionHandler { [weak operation] in
                            finished.record(operation?.failure == nil)
                        }
                        if (number + adder).isMultiple(of: 3) { operation.cancel() }
                        #expect(queue.operationCount <= limit + 2 + 1)
                    }
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { finished.events.count == 2000 })
    }

    @Test("Numbers out of range stop the process with a message", .prompt)
    func badValues() async {
        let low = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TaskOperationQueue(.init(maxQueuedOperationCount: 0))
        }
        #expect(low.errorText.contains("maxQueuedOperationCount is 0; it must be at least 1"))
        let later = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TaskOperationQueue().maxQueuedOperationCount = -3
        }
        #expect(later.errorText.contains("maxQueuedOperationCount is -3; it must be at least 1"))
    }
}

@Suite("Waiting for room", .inTurns, .endsInTime)
struct WaitingForRoomTests {
    @Test(
        "A producer that is faster than its consumer has no more pending than may be, and all is done", .schedules(8)
    )
    func backPressure() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, maxQueuedOperationCount: 3))
        var peak = 0
        let recorder = Recorder<Int>()
        for number in 0..<200 {
            try await queue.addOperationWaitingForRoom {
                await Task.yield()
                recorder.record(number)
            }
            peak = max(peak, queue.operationCount)
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(peak <= 5 && recorder.events.count == 200)
    }

    @Test("Producers get room in their order, for any priorities")
    func order() async throws {
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, isSuspended: true))
        let recorder = Recorder<Int>()
        queue.addOperation { recorder.record(0) }
        let producers = Recorder<Task<Void, any Error>>()
        let observer = AdditionObserver()
        queue.addObserver(observer)
        for number in 1...5 {
            let task = Task {
                _ = try await queue.addOperationWaitingForRoom(name: "\(number)", .priority(number == 5 ? .high : .low))
                {
                    recorder.record(number)
                }
            }
            producers.record(task)
            #expect(await eventually { queue.waitingProducerCount == number })
        }
        #expect(queue.addOperation {}.failure != nil, "what does not wait does not overtake")
        queue.isSuspended = false
        for task in producers.events { try await task.value }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { observer.added.events == ["1", "2", "3", "4", "5"] })
        #expect(recorder.events.count == 6)
    }

    @Test("A producer whose task is cancelled adds nothing, and its operation can be added elsewhere")
    func cancellation() async throws {
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 1, isSuspended: true))
        queue.addOperation {}
        let operation = TaskOperation { 7 }
        let producer = Task { try await queue.addOperationWaitingForRoom(operation) }
        #expect(await eventually { queue.waitingProducerCount == 1 })
        producer.cancel()
        await #expect(throws: CancellationError.self) { try await producer.value }
        #expect(queue.operationCount == 1 && queue.waitingProducerCount == 0)
        try TaskOperationQueue().addOperation(operation)
        #expect(try await operation.value == 7)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.addOperationWaitingForRoom {}
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        queue.cancelAllOperations()
    }

    @Test(
        "Shutting down ends the wait of every producer", arguments: [TaskOperationQueue.Shutdown.drain, .cancel])
    func shutDown(manner: TaskOperationQueue.Shutdown) async throws {
        let queue = TaskOperationQueue(.init(name: "ending", maxQueuedOperationCount: 1, isSuspended: true))
        let first = queue.addOperation { 1 }
        let producers = (0..<3).map { _ in Task { try await queue.addOperationWaitingForRoom {} } }
        #expect(await eventually { queue.waitingProducerCount == 3 })
        queue.shutDown(manner)
        for producer in producers {
            let error = await #expect(throws: TaskOperationError.self) { try await producer.value }
            #expect("\(error!)".contains("queue \"ending\" after its shutdown"))
        }
        queue.isSuspended = false
        let isFirstFinished = (try? await first.value) == 1
        #expect(isFirstFinished == (manner == .drain))
        await #expect(throws: TaskOperationError.self) { try await queue.addOperationWaitingForRoom {} }
    }

    @Test("A body that waits for room in its own queue of width 1 lends its permit")
    func withinBody() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1))
        let recorder = Recorder<Int>()
        let producer = queue.addOperation {
            for number in 0..<10 {
                try await queue.addOperationWaitingForRoom { recorder.record(number) }
            }
        }
        try await producer.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events == Array(0..<10))
    }

    @Test("On a queue that never lends, that is refused by name, and nothing is left behind")
    func withinBodyThatKeepsItsPermit() async throws {
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, lending: .never))
        let producer = queue.addOperation(name: "producer") {
            for _ in 0..<3 { try await queue.addOperationWaitingForRoom {} }
        }
        await #expect(throws: TaskOperationError.self) { try await producer.value }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(try await queue.addOperation { 2 }.value == 2)
    }

    @Test("A raised limit admits producers; at the end of a scope all are admitted")
    func scopeAndLimit() async throws {
        let recorder = Recorder<Int>()
        try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1)) { queue in
            for number in 0..<20 {
                if number == 10 { queue.maxQueuedOperationCount = 4 }
                try await queue.addOperationWaitingForRoom { recorder.record(number) }
            }
        }
        #expect(recorder.events == Array(0..<20))
        let queue = TaskOperationQueue(.init(maxQueuedOperationCount: 1, isSuspended: true))
        let producers = (0..<3).map { _ in Task { try await queue.addOperationWaitingForRoom {} } }
        #expect(await eventually { queue.waitingProducerCount == 2 })
        queue.maxQueuedOperationCount = 3
        for producer in producers { _ = try await producer.value }
        #expect(queue.operationCount == 3)
        queue.cancelAllOperations()
    }

    @Test("Hundreds of producers that are cancelled at random leave nothing behind")
    func storm() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, maxQueuedOperationCount: 4))
        let recorder = Recorder<Int>()
        var random = SeededGenerator(seed: 3)
        let cancelled = (0..<400).map { _ in random.happens(percent: 40) }
        var added = 0
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let task = Task {
                        try await queue.addOperationWaitingForRoom {
                            await Task.yield()
                            recorder.record(number)
                        }
                    }
                    if cancelled[number] { task.cancel() }
                    return (try? await task.value) != nil
                }
            }
            for await isAdded in group where isAdded { added += 1 }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events.count == added && added >= cancelled.count { !$0 })
        #expect(queue.waitingProducerCount == 0)
    }
}

/// Records the names of operations in the order in which they are added.
private final class AdditionObserver: TaskOperationObserver {
    let added = Recorder<String>()

    func operationChanged(_ event: TaskOperationEvent) {
        if case .added = event.kind, let name = event.operation.name { added.record(name) }
    }
}
