import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// Checks how costs grow, independently of the machine's speed: linear costs must stay linear.
///
/// A cost is the processor time of one thread. A seeded executor runs all measured tasks on that thread, so the time of
/// other tests is not included. Each cost is the lowest of several attempts, because other tests share the caches.
@Suite(
    "Growth: work is linear, and nothing is linear in the number waiting", .computing,
    .endsInTime)
struct GrowthTests {
    @Test("An operation of ten times as many costs about the same", arguments: Workload.all)
    func workIsLinear(workload: Workload) throws {
        let ratio = try bestRatio(within: limit) { isLarge in
            // The total work is the same for both sizes, so that both are disturbed equally often.
            let count = isLarge ? Size.large : Size.small
            return try processorTimeOnOneThread { executor in
                for _ in 0..<(Size.large / count) { try await workload.run(count, executor) }
            }
        }
        #expect(ratio < limit, "quadratic work would make it 10")
    }

    @Test("A call costs about the same when 40 times as many wait", arguments: QueueCall.all)
    func callsDoNotLookAtAllThatWait(call: QueueCall) {
        let ratio = bestRatio(within: limit) { isLarge in
            let (queue, waiting) = crowd(isLarge ? Size.largeCrowd : Size.smallCrowd)
            defer { queue.cancelAllOperations() }
            return processorTime { for number in 0..<100 { call.make(queue, waiting, number) } }
        }
        #expect(ratio < limit, "a look at all that wait would make it 40")
    }

    @Test(
        "An edge at the end of a chain costs about the same when the chain is 40 times as long",
        arguments: ChainCall.all)
    func edgesDoNotSearchAllThatComesBefore(call: ChainCall) {
        let ratio = bestRatio(within: limit, attempts: 5) { isLarge in
            let queue = TaskOperationQueue(.init(isSuspended: true))
            defer { queue.cancelAllOperations() }
            var last = queue.addOperation {}
            for _ in 1..<(isLarge ? Size.largeCrowd : Size.smallCrowd) {
                last = queue.addOperation(dependencies: [last]) {}
            }
            let others = (0..<100).map { _ in queue.addOperation {} }
            // Reading the count includes taking in the added operations, which the first measured call would otherwise
            // do.
            precondition(queue.operationCount > 100)
            return processorTime { for other in others { call.make(queue, last, other) } }
        }
        #expect(ratio < limit, "a search through the chain would make it 40")
    }

    @Test("A subscription to a progress ends at a cost that does not depend on the number of subscriptions")
    func subscriptionsEnd() {
        let ratio = bestRatio(within: limit) { isLarge in
            let operation = TaskOperation {}
            var subscriptions = (0..<(isLarge ? Size.largeCrowd : Size.smallCrowd)).map { _ in
                operation.progress.makeAsyncIterator()
            }
            return processorTime { subscriptions.removeLast(50) }
        }
        #expect(ratio < limit, "a look at all subscriptions would make it 40")
    }

    @Test("A follower of a suspension leaves at a cost that does not depend on the number of followers")
    func followersLeave() {
        let ratio = bestRatio(within: limit) { isLarge in
            let queue = TaskOperationQueue()
            let followers = (0..<(isLarge ? Size.largeCrowd : Size.smallCrowd)).map { _ in TaskOperationQueue() }
            for follower in followers { follower.scheduler.followSuspension(of: queue.scheduler) {} }
            return processorTime {
                for follower in followers.prefix(50) { follower.scheduler.stopFollowingSuspension() }
            }
        }
        #expect(ratio < limit, "a look at all followers would make it 40")
    }

    @Test("Operations pass others that wait at a cost that does not depend on how many these are")
    func passingDoesNotLookAtAllThatWait() throws {
        let ratio = try bestRatio(within: limit) { isLarge in
            try onOneThread { executor in
                let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: executor))
                let gate = Gate()
                let first = queue.addOperation { await gate.pass() }
                for _ in 0..<(isLarge ? Size.largeCrowd : Size.smallCrowd) {
                    queue.addOperation(dependencies: [first]) {}
                }
                let start = threadTime()
                for _ in 0..<100 { try await queue.addOperation {}.value }
                let cost = threadTime() - start
                gate.open()
                try await queue.waitUntilAllOperationsAreFinished()
                return cost
            }
        }
        #expect(ratio < limit, "a look at all that wait would make it 40")
    }

    @Test(
        "Operations pass others with two limits, of which they have one, at a cost that does not depend on their number"
    )
    func passingDoesNotRenewClaims() throws {
        let ratio = try bestRatio(within: limit) { isLarge in
            try onOneThread { executor in
                let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor))
                let (wide, closed) = (AsyncSemaphore(capacity: .max), AsyncSemaphore(capacity: 0))
                for number in 0..<(isLarge ? Size.largeCrowd : Size.smallCrowd) {
                    queue.addOperation([.limit(wide, key: number), .limit(closed)]) {}
                }
                // Each of them is tried once.
                for _ in 0..<100 { try await queue.addOperation {}.value }
                let start = threadTime()
                for _ in 0..<100 { try await queue.addOperation {}.value }
                let cost = threadTime() - start
                queue.cancelAllOperations()
                return cost
            }
        }
        #expect(ratio < limit, "a look at all that wait would make it 40")
    }

    @Test("A call of a semaphore costs about the same when 40 times as many wait", arguments: SemaphoreCall.all)
    func semaphoreCallsDoNotLookAtAllThatWait(call: SemaphoreCall) throws {
        let ratio = try bestRatio(within: limit) { isLarge in
            try onOneThread { executor in
                let count = isLarge ? Size.largeCrowd : Size.smallCrowd
                let semaphore = AsyncSemaphore(capacity: 0)
                let waiters = (0..<count).map { _ in
                    Task(executorPreference: executor) { try await semaphore.acquire() }
                }
                while semaphore.waitingCount < count { await Task.yield() }
                let cost = processorTime { for number in 0..<100 { call.make(semaphore, waiters, number) } }
                for waiter in waiters { waiter.cancel() }
                for waiter in waiters { _ = await waiter.result }
                return cost
            }
        }
        #expect(ratio < limit, "a look at all that wait would make it 40")
    }
}

// MARK: - Measured work

private enum Size {
    static let large = isDeep ? 10_000 : 5000
    static let small = large / 10
    static let largeCrowd = isDeep ? 12_000 : 8000
    static let smallCrowd = largeCrowd / 40
}

/// Large enough to allow for data that does not fit into the caches.
private let limit = 4.0

struct Workload: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (_ count: Int, _ executor: any TaskExecutor) async throws -> Void

    static let all = [
        Workload(testDescription: "independent operations") { count, executor in
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: executor))
            for _ in 0..<count { queue.addOperation {} }
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "child tasks of a body that await operations") { count, executor in
            let queue = TaskOperationQueue(.init(executor: executor))
            try await queue.addOperation {
                let operations = (0..<count).map { _ in queue.addOperation {} }
                await withDiscardingTaskGroup { group in
                    for operation in operations { group.addTask { _ = await operation.result } }
                }
            }.value
        },
        Workload(testDescription: "child tasks of a body that await operations of other queues") { count, executor in
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor))
            let other = TaskOperationQueue(.init(isSuspended: true, executor: executor))
            let operations = (0..<count).map { _ in other.addOperation {} }
            try await queue.addOperation {
                await withDiscardingTaskGroup { group in
                    for operation in operations { group.addTask { _ = await operation.result } }
                    group.addTask { other.isSuspended = false }
                }
            }.value
        },
        Workload(testDescription: "child tasks of a body that await permits") { count, executor in
            let queue = TaskOperationQueue(.init(executor: executor))
            let semaphores = (0..<count).map { _ in AsyncSemaphore(capacity: 0) }
            try await queue.addOperation {
                await withDiscardingTaskGroup { group in
                    for semaphore in semaphores { group.addTask { try? await semaphore.acquire() } }
                    group.addTask { for semaphore in semaphores { semaphore.capacity = 1 } }
                }
            }.value
        },
        Workload(testDescription: "one batch") { count, executor in
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: executor))
            try queue.addOperations((0..<count).map { _ in TaskOperation {} })
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "a chain") { count, executor in
            try await graph(count, executor) { number, earlier in number == 0 ? [] : [earlier[number - 1]] }
        },
        Workload(testDescription: "one before all others") { count, executor in
            try await graph(count, executor) { number, earlier in number == 0 ? [] : [earlier[0]] }
        },
        Workload(testDescription: "all others before one") { count, executor in
            try await graph(count, executor) { number, earlier in number == count - 1 ? earlier : [] }
        },
        Workload(testDescription: "priorities in descending order of adding") { count, executor in
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true, executor: executor))
            let operations = (0..<count).map { _ in queue.addOperation {} }
            for operation in operations.reversed() { operation.priority = .high }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "barriers") { count, executor in
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true, executor: executor))
            for number in 0..<count {
                if number.isMultiple(of: 10) { queue.addBarrier {} } else { queue.addOperation {} }
            }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "cancelling all") { count, executor in
            let queue = TaskOperationQueue(.init(isSuspended: true, executor: executor))
            for _ in 0..<count { queue.addOperation {} }
            queue.cancelAllOperations()
            try await queue.waitUntilAllOperationsAreFinished()
        },
        Workload(testDescription: "waiters for a semaphore") { count, executor in
            let semaphore = AsyncSemaphore(capacity: 2)
            let waiters = (0..<count).map { _ in
                Task(executorPreference: executor) { try await semaphore.withPermit {} }
            }
            for waiter in waiters { try await waiter.value }
        },
    ]

    /// Runs operations that depend on earlier ones. All of them are added before the first one starts.
    private static func graph(
        _ count: Int, _ executor: any TaskExecutor,
        dependencies: (_ number: Int, _ earlier: [AnyTaskOperation]) -> [AnyTaskOperation]
    ) async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true, executor: executor))
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
    /// Makes the call. `number` is the number of calls before this one.
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

struct ChainCall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes the call, with the end of a chain and an operation outside it.
    let make: @Sendable (_ queue: TaskOperationQueue, _ last: AnyTaskOperation, _ other: AnyTaskOperation) -> Void

    static let all = [
        ChainCall(testDescription: "addOperation that depends on the end") { queue, last, _ in
            queue.addOperation(dependencies: [last]) {}
        },
        ChainCall(testDescription: "addDependency on the end") { _, last, other in try! other.addDependency(last) },
        ChainCall(testDescription: "addDependency of the end") { _, last, other in try! last.addDependency(other) },
        ChainCall(testDescription: "addDependency on the end, of what another depends on") { queue, last, other in
            queue.addOperation(dependencies: [other]) {}
            try! other.addDependency(last)
        },
        ChainCall(testDescription: "cancel what depends on the end") { queue, last, _ in
            queue.addOperation(dependencies: [last]) {}.cancel()
        },
    ]
}

struct SemaphoreCall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes the call. `number` is the number of calls before this one.
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

/// Returns a suspended queue with `count` waiting operations. A queue takes in added operations at the next call, so
/// `operationCount` is read here, before the measurement.
private func crowd(_ count: Int) -> (TaskOperationQueue, [AnyTaskOperation]) {
    let queue = TaskOperationQueue(.init(isSuspended: true))
    let operations = (0..<count).map { _ in queue.addOperation {} }
    precondition(queue.operationCount == count)
    return (queue, operations)
}
