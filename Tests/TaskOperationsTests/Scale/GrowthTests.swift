import TaskOperations
import TaskOperationsTesting
import Testing

/// Guards the shape of the costs, not the clock: what is linear must stay so, on whatever machine.
///
/// Each cost is the best of several attempts at both sizes, as others may use the machine meanwhile. The suite is
/// serialised so that at least its own tests do not disturb each other.
@Suite("Growth: work is linear, and nothing is linear in the number waiting", .serialized, .timeLimit(.minutes(10)))
struct GrowthTests {
    @Test("An operation of 100,000 costs about what one of 10,000 does", arguments: Workload.all)
    func workIsLinear(workload: Workload) async throws {
        let ratio = try await bestRatio(within: limit, attempts: 2...20) { isLarge in
            // As much work at both sizes: what takes no longer than a turn on the processor is not slowed down by those
            // who wait for theirs.
            let count = isLarge ? Size.large : Size.small
            return try await ContinuousClock().measure {
                for _ in 0..<(Size.large / count) { try await workload.run(count) }
            }
        }
        #expect(ratio < limit, "quadratic work would make it 10")
    }

    @Test("A call costs about the same with 500 waiting and with 20,000", arguments: QueueCall.all)
    func callsDoNotLookAtAllThatWait(call: QueueCall) async throws {
        let ratio = try await bestRatio(within: limit) { isLarge in
            let (queue, waiting) = crowd(isLarge ? Size.largeCrowd : Size.smallCrowd)
            let cost = processorTime { for number in 0..<100 { call.make(queue, waiting, number) } }
            queue.cancelAllOperations()
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
            return cost
        }
        #expect(ratio < limit, "a look at all that wait would make it 40")
    }

    @Test("Operations pass others that wait at a cost that does not depend on how many these are")
    func passingDoesNotLookAtAllThatWait() async throws {
        let ratio = try await bestRatio(within: limit) { isLarge in
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
            let gate = Gate()
            let first = queue.addOperation { await gate.pass() }
            for _ in 0..<(isLarge ? Size.largeCrowd : Size.smallCrowd) { queue.addOperation(dependencies: [first]) {} }
            let elapsed = try await ContinuousClock().measure {
                for _ in 0..<100 { try await queue.addOperation {}.value }
            }
            gate.open()
            try await queue.waitUntilAllOperationsAreFinished()
            return elapsed
        }
        #expect(ratio < limit, "a look at all that wait would make it 40")
    }

    @Test(
        "A call of a semaphore costs about the same with 500 waiting and with 20,000", arguments: SemaphoreCall.all)
    func semaphoreCallsDoNotLookAtAllThatWait(call: SemaphoreCall) async {
        let ratio = await bestRatio(within: limit) { isLarge in
            let count = isLarge ? Size.largeCrowd : Size.smallCrowd
            let semaphore = AsyncSemaphore(capacity: 0)
            let waiters = (0..<count).map { _ in Task { try await semaphore.acquire() } }
            while semaphore.waitingCount < count { await Task.yield() }
            let cost = processorTime { for number in 0..<100 { call.make(semaphore, waiters, number) } }
            for waiter in waiters { waiter.cancel() }
            for waiter in waiters { _ = await waiter.result }
            return cost
        }
        #expect(ratio < limit, "a look at all that wait would make it 40")
    }
}

// MARK: - What is measured

/// Under the thread sanitizer everything takes ten times as long.
private enum Size {
    #if TASK_OPERATIONS_PTHREAD_LOCK
        static let large = 10_000
    #else
        static let large = 100_000
    #endif
    static let small = large / 10
    static let largeCrowd = 20_000
    static let smallCrowd = largeCrowd / 40
}

/// Wide enough for caches that are too small, and for others that use the machine.
private let limit = 4.0

struct Workload: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (_ count: Int) async throws -> Void

    static let all = [
        Workload(testDescription: "independent operations") { count in
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
            for _ in 0..<count { queue.addOperation {} }
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "one batch") { count in
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
            try queue.addOperations((0..<count).map { _ in TaskOperation {} })
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "a chain") { count in
            try await graph(count) { number, earlier in number == 0 ? [] : [earlier[number - 1]] }
        },
        Workload(testDescription: "one before all others") { count in
            try await graph(count) { number, earlier in number == 0 ? [] : [earlier[0]] }
        },
        Workload(testDescription: "all others before one") { count in
            try await graph(count) { number, earlier in number == count - 1 ? earlier : [] }
        },
        Workload(testDescription: "priorities in descending order of adding") { count in
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 2, isSuspended: true)
            let operations = (0..<count).map { _ in queue.addOperation {} }
            for operation in operations.reversed() { operation.priority = .high }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "barriers") { count in
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 2, isSuspended: true)
            for number in 0..<count {
                if number.isMultiple(of: 10) { queue.addBarrier {} } else { queue.addOperation {} }
            }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "cancelling all") { count in
            let queue = TaskOperationQueue(isSuspended: true)
            for _ in 0..<count { queue.addOperation {} }
            queue.cancelAllOperations()
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "waiters for a semaphore") { count in
            let semaphore = AsyncSemaphore(capacity: 2)
            let waiters = (0..<count).map { _ in Task { try await semaphore.withPermit {} } }
            for waiter in waiters { try await waiter.value }
        },
    ]

    /// Operations that depend on earlier ones, all of them there before the first starts.
    private static func graph(
        _ count: Int, dependencies: (_ number: Int, _ earlier: [AnyTaskOperation]) -> [AnyTaskOperation]
    ) async throws {
        let queue = TaskOperationQueue(isSuspended: true)
        var operations: [AnyTaskOperation] = []
        for number in 0..<count {
            operations.append(queue.addOperation(dependencies: dependencies(number, operations)) {})
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

struct QueueCall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes the call for the so-and-so-manieth time.
    let make: @Sendable (_ queue: TaskOperationQueue, _ waiting: [AnyTaskOperation], _ number: Int) -> Void

    static let all = [
        QueueCall(testDescription: "addOperation") { queue, _, _ in queue.addOperation {} },
        QueueCall(testDescription: "addOperation with a dependency") { queue, waiting, number in
            queue.addOperation(dependencies: [waiting[number]]) {}
        },
        QueueCall(testDescription: "addBarrier") { queue, _, _ in queue.addBarrier {} },
        QueueCall(testDescription: "addDependency") { _, waiting, number in
            try! waiting[waiting.count - 1 - number].addDependency(waiting[number])
        },
        QueueCall(testDescription: "addDependency and removeDependency") { _, waiting, number in
            try! waiting[waiting.count - 1 - number].addDependency(waiting[number])
            try! waiting[waiting.count - 1 - number].removeDependency(waiting[number])
        },
        QueueCall(testDescription: "cancel, from the front") { _, waiting, number in waiting[number].cancel() },
        QueueCall(testDescription: "cancel, from the back") { _, waiting, number in
            waiting[waiting.count - 1 - number].cancel()
        },
        QueueCall(testDescription: "priority, from the front") { _, waiting, number in
            waiting[number].priority = .high
        },
        QueueCall(testDescription: "priority, from the back") { _, waiting, number in
            waiting[waiting.count - 1 - number].priority = .background
        },
        QueueCall(testDescription: "maxConcurrentOperationCount") { queue, _, number in
            queue.maxConcurrentOperationCount = 1 + number
        },
        QueueCall(testDescription: "isSuspended") { queue, _, _ in queue.isSuspended = true },
        QueueCall(testDescription: "operationCount") { queue, waiting, _ in
            precondition(queue.operationCount >= waiting.count)
        },
        QueueCall(testDescription: "state") { _, waiting, number in precondition(waiting[number].state == .ready) },
    ]
}

struct SemaphoreCall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes the call for the so-and-so-manieth time.
    let make: @Sendable (_ semaphore: AsyncSemaphore, _ waiters: [Task<Void, any Error>], _ number: Int) -> Void

    static let all = [
        SemaphoreCall(testDescription: "tryAcquire") { semaphore, _, _ in precondition(!semaphore.tryAcquire()) },
        SemaphoreCall(testDescription: "capacity") { semaphore, _, number in semaphore.capacity = number + 1 },
        SemaphoreCall(testDescription: "waitingCount") { semaphore, _, _ in precondition(semaphore.waitingCount > 0) },
        SemaphoreCall(testDescription: "cancel, from the front") { _, waiters, number in waiters[number].cancel() },
        SemaphoreCall(testDescription: "cancel, from the back") { _, waiters, number in
            waiters[waiters.count - 1 - number].cancel()
        },
    ]
}

/// A suspended queue in which so many operations wait. It is asked for their number, as the first call after operations
/// were added takes them in.
private func crowd(_ count: Int) -> (TaskOperationQueue, [AnyTaskOperation]) {
    let queue = TaskOperationQueue(isSuspended: true)
    let operations = (0..<count).map { _ in queue.addOperation {} }
    precondition(queue.operationCount == count)
    return (queue, operations)
}
