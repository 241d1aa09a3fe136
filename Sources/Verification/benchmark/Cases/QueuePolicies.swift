import TaskOperations
import TaskOperationsExtras

// Features of a queue other than its width. The comparison is code that a user would write around a queue or a task.

extension Case {
    /// The producer is faster than the queue, and waits for room at nearly every addition.
    static let boundedAdd = Case(
        "bounded-add", "empty, added by a producer that waits for room for 64", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, maxQueuedOperationCount: 62))
                return try await benchmark.measure(count, on: queue) { queue in
                    for _ in 0..<count { try await queue.addOperationWaitingForRoom {} }
                    try await queue.waitUntilAllOperationsAreFinished()
                }
            },
            Subject(.semaphoreAroundTask) { count in
                try await benchmark.measure(count, on: AsyncSemaphore(capacity: 64)) { room in
                    let group = AsyncGroup()
                    for _ in 0..<count {
                        try await room.acquire()
                        group.enter()
                        Task {
                            room.release()
                            group.leave()
                        }
                    }
                    await group.wait()
                }
            },
        ])

    static let sharedLimit = Case(
        "shared-limit", "on one of two queues, lets others run once, at most one at a time of both", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let limit = AsyncSemaphore(capacity: 1)
                return try await twoQueues(count) { queue in
                    queue.addOperation(.limit(limit)) { await Task.yield() }
                }
            },
            Subject(.semaphoreInBody) { count in
                let limit = AsyncSemaphore(capacity: 1)
                return try await twoQueues(count) { queue in
                    queue.addOperation { try await limit.withPermit { await Task.yield() } }
                }
            },
        ])

    private static func twoQueues(
        _ count: Int, _ add: (TaskOperationQueue) -> Void
    ) async throws -> Measurement {
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 2) }
        return try await benchmark.measure(count, on: queues) { queues in
            for number in 0..<count { add(queues[number % 2]) }
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        }
    }

    /// The figure is the mean delay of a start, not a cost. It counts from the first start, because the rate bounds the
    /// starts: the later they begin, the later the following ones may be.
    static let startRate = Case(
        "start-rate", "started 1,000 times a second, after a burst of 10: how late after the first start, on average",
        sizes: [200],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let lateness = Lateness()
                let queue = TaskOperationQueue(
                    .init(maxConcurrentOperationCount: 2, rate: .perSecond(1000, burst: 10), isSuspended: true))
                for _ in 0..<count { queue.addOperation { lateness.noteStart() } }
                queue.isSuspended = false
                try await queue.waitUntilAllOperationsAreFinished()
                return lateness.mean
            },
            // Sleeps until an instant. The delays of sleeps for a duration would add up.
            Subject(.task) { count in
                let (lateness, start) = (Lateness(), ContinuousClock.now)
                for number in 0..<count {
                    try await Task.sleep(until: start + Lateness.offset(number))
                    await Task { lateness.noteStart() }.value
                }
                return lateness.mean
            },
        ])
}

/// The delays of starts that should occur every millisecond after the first ten.
private final class Lateness: Sendable {
    private let starts = Lock<[ContinuousClock.Instant]>([])

    /// The time from the first start to the planned start of an operation.
    static func offset(_ number: Int) -> Duration { .milliseconds(max(0, number - 9)) }

    func noteStart() {
        let now = ContinuousClock.now
        starts.withLock { $0.append(now) }
    }

    var mean: Measurement {
        let starts = starts.withLock { $0 }
        let late = starts.enumerated().reduce(Duration.zero) { sum, start in
            sum + starts[0].duration(to: start.element) - Self.offset(start.offset)
        }
        return Measurement(late, operations: starts.count)
    }
}
