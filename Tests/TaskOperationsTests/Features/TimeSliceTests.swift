import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("A worker lets other tasks have its thread", .inTurns, .endsInTime)
struct TimeSliceTests {
    @Test("where its bodies never suspend: another task has its turn long before the queue is empty")
    func bodiesThatCompute() async throws {
        let queue = TaskOperationQueue()
        // Each body adds the next one until the test has run five times. If it does not run, the bodies stop at `end`.
        let (isOver, end) = (Gate(), ContinuousClock.now + .seconds(1200))
        @Sendable func computeAndAddNext() {
            compute(for: .microseconds(200))
            if !isOver.isOpen, ContinuousClock.now < end { queue.addOperation { computeAndAddNext() } }
        }
        for _ in 0..<2 * TaskOperationQueue.defaultMaxConcurrentOperationCount {
            queue.addOperation { computeAndAddNext() }
        }
        for _ in 0..<5 { await Task.yield() }
        #expect(ContinuousClock.now < end, "the queue kept all threads to itself")
        isOver.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("once, where its bodies suspend: it does not yield too")
    func bodiesThatSuspend() async throws {
        let executor = JobCounter()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 40, isSuspended: true, executor: executor))
        for _ in 0..<800 { queue.addOperation { try await Task.sleep(for: .milliseconds(2)) } }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        // There is one job for each body after its sleep, and one for each worker. A yield after each body would double
        // the number.
        #expect(executor.count < 800 * 3 / 2)
    }

    @Test("whenever the executor says so, also if it could take the next operation without entering the queue")
    func executorDecides() async throws {
        let executor = ImpatientExecutor()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true, executor: executor))
        for _ in 0..<100 { queue.addOperation {} }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(executor.jobs.count >= 100, "a yield after each body")
    }

    @Test("also if it moves to another queue after each body")
    func movingWorker() async throws {
        let executor = ImpatientExecutor()
        let queues = (0..<2).map { _ in TaskOperationQueue(.init(executor: executor)) }
        let first = TaskOperation {}
        var last: AnyTaskOperation = first
        for number in 0..<100 { last = queues[number % 2].addOperation(dependencies: [last]) {} }
        try queues[1].addOperation(first)
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(executor.jobs.count >= 100, "a yield after each body")
    }

    private func compute(for duration: Duration) {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {}
    }
}

/// An executor that makes workers yield after each body, and counts its jobs.
private final class ImpatientExecutor: SliceDecidingExecutor {
    let jobs = JobCounter()

    func enqueue(_ job: consuming ExecutorJob) { jobs.enqueue(job) }

    func isSliceOver() -> Bool { true }
}
