import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@testable import TaskOperations

@Suite("The mailbox that operations are added through", .inTurns, .timeLimit(.minutes(10)))
struct MailboxTests {
    @Test("What is put in comes out once, in that order")
    func order() {
        let box = MailboxHolder()
        #expect(box.isEmpty)
        let operations = (0..<10).map { _ in TaskOperation {} }
        for half in [operations.prefix(5), operations.suffix(5)] {
            for operation in half { _ = box.mailbox.put(operation) }
            #expect(!box.isEmpty)
            var taken: [AnyTaskOperation] = []
            box.mailbox.empty { taken.append($0) }
            #expect(taken == Array(half))
            #expect(box.isEmpty)
        }
    }

    @Test("Where several put in and one takes out, nothing is lost or doubled, and the order of each is kept")
    func severalAtOnce() async {
        let (producers, share) = (4, 2000)
        let box = MailboxHolder()
        let taken = await withTaskGroup { group in
            for producer in 0..<producers {
                group.addTask {
                    for number in 0..<share { _ = box.mailbox.put(TaskOperation(name: "\(producer) \(number)") {}) }
                }
            }
            var taken: [AnyTaskOperation] = []
            while taken.count < producers * share {
                box.mailbox.empty { taken.append($0) }
                await Task.yield()
            }
            return taken
        }
        #expect(box.isEmpty)
        for producer in 0..<producers {
            let names = taken.compactMap(\.name).filter { $0.hasPrefix("\(producer) ") }
            #expect(names == (0..<share).map { "\(producer) \($0)" })
        }
    }

    @Test("What is left in it is let go of with it")
    func leftovers() {
        weak var operation: AnyTaskOperation?
        do {
            let mailbox = Mailbox()
            let put = TaskOperation {}
            operation = put
            _ = mailbox.put(put)
        }
        #expect(operation == nil)
    }

    @Test("What was added while every permit is taken is seen by whoever asks, in order")
    func seenAtOnce() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let first = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let others = (0..<3).map { number in queue.addOperation(name: "\(number)") {} }
        #expect(queue.operationCount == 4)
        let more = (3..<5).map { number in queue.addOperation(name: "\(number)") {} }
        #expect(queue.operations == [first] + others + more)
        let last = queue.addOperation(name: "5") {}
        #expect(last.isReady)
        queue.cancelAllOperations()
        #expect(last.isCancelled && last.isFinished)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("What is raised while it is in there, behind a worker that has not begun, gets a worker of its own level")
    func escalation() async throws {
        let executor = HoldingExecutor()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1, executor: executor)
        queue.addOperation(priority: .low) {}
        let second = queue.addOperation(priority: .low) {}
        #expect(executor.priorities == [.low])
        second.priority = .high
        #expect(executor.priorities == [.low, .high])
        executor.letGo()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("What is more urgent than a worker that has not begun gets a worker of its own level")
    func moreUrgent() async throws {
        let executor = HoldingExecutor()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1, executor: executor)
        queue.addOperation(priority: .low) {}
        queue.addOperation(priority: .low) {}
        #expect(executor.priorities == [.low])
        queue.addOperation(priority: .high) {}
        #expect(executor.priorities == [.low, .high])
        executor.letGo()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Adding races with workers that leave, and nothing is forgotten")
    func nothingIsForgotten() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<2000 {
                        let value = try await queue.run { number }
                        #expect(value == number)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(queue.operationCount == 0)
    }

    @Test("What is added just as the only worker leaves, with nobody else to notice, is not forgotten")
    func lastOneIsNotForgotten() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        for attempt in 0..<(isDeep ? 10_000 : 3000) {
            let hasBegun = Gate()
            queue.addOperation { hasBegun.open() }
            while !hasBegun.isOpen { await Task.yield() }
            // Another moment of the end each time.
            for _ in 0..<attempt % 50 { _ = hasBegun.isOpen }
            let last = queue.addOperation {}
            let hasEnded = await eventually(within: .seconds(60)) { last.isFinished }
            try #require(hasEnded)
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.operationCount == 0)
    }

    @Test("Adding races with a shutdown, and each operation either runs or is refused", arguments: 0..<50)
    func shutdown(attempt: Int) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let runs = Recorder<Int>()
        async let operations = Task.detached {
            (0..<100).map { number in queue.addOperation { runs.record(number) } }
        }.value
        for _ in 0..<attempt { await Task.yield() }
        queue.shutDown()
        var refused = 0
        for operation in await operations {
            do {
                try await operation.value
            } catch TaskOperationError.queueShutDown {
                refused += 1
            }
        }
        #expect(runs.events.count + refused == 100)
        #expect(runs.events == Array(0..<runs.events.count))
        #expect(queue.operationCount == 0)
    }
}

/// A mailbox that several tasks share.
private final class MailboxHolder: Sendable {
    let mailbox = Mailbox()

    var isEmpty: Bool { mailbox.isEmpty }
}
