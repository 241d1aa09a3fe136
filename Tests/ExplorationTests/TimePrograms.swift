import Exploration

@testable import TaskOperations
@testable import TaskOperationsExtras

/// Programs in which threads wait for points in time.
enum TimePrograms {
    static let all = [earlierDeadline, pause, cancelledReturn, delayedBarrier, abandoned]

    /// A limit that abandons a body passes while the body ends. The scope of the operation throws the error of the limit if
    /// the operation fails with it.
    static let abandoned = ExploredProgram("limit that abandons / end of the body in a scope") { schedule in
        let (clock, tally, body) = (SetClock(), Tally(), Holder<WaitContinuation<Void>>(nil))
        let operation = TaskOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await withWaitContinuation { body.value = $0 }
        }
        Task {
            do {
                try await withTaskOperationQueue { try $0.addOperation(operation) }
            } catch {
                tally.count("failure")
            }
            tally.count("end")
        }
        schedule.runToEnd()
        schedule.thread("clock") { clock.set(to: .seconds(2)) }
        schedule.thread("body") { body.value.take()!.resume() }
        schedule.runToEnd()
        schedule.expect(tally["end"] == 1, "the scope has not ended")
        let failureCount = operation.failure == nil ? 0 : 1
        schedule.expect(tally["failure"] == failureCount, "\(operation) and its scope differ")
    }

    /// Each thread gives an operation a delay. When the clock reaches the end of the shorter delay, that operation
    /// starts.
    static let earlierDeadline = ExploredProgram("delay / shorter delay") { schedule in
        let (queue, clock) = (TaskOperationQueue(), SetClock())
        let operations = [10, 1].map { seconds in
            TaskOperation(name: "\(seconds)", [.delay(.seconds(seconds)), .clock(clock)]) {}
        }
        for operation in operations { schedule.thread("adder") { try? queue.addOperation(operation) } }
        schedule.runToEnd()
        clock.set(to: .seconds(2))
        schedule.runToEnd()
        schedule.expect(operations[1].isFinished, "\(operations[1].debugDescription) has not ended")
        schedule.expect(!operations[0].isFinished, "\(operations[0].debugDescription) has ended early")
        clock.set(to: .seconds(20))
        schedule.runToEnd()
        schedule.expectEnd(of: operations[0], operations[1])
        schedule.expectEmpty(queue)
    }

    /// The delay of a barrier ends while another thread adds operations, one of which waits for the barrier.
    static let delayedBarrier = ExploredProgram("end of the delay of a barrier / add / add a dependent") { schedule in
        let (queue, clock, tally) = (TaskOperationQueue(maxConcurrentOperationCount: 2), SetClock(), Tally())
        let work: @Sendable () async -> Void = {
            tally.enter()
            await Task.yield()
            tally.leave()
        }
        let barrier = queue.addBarrier(name: "barrier", [.delay(.seconds(1)), .clock(clock)]) {
            schedule.expect(tally.now == 0, "the barrier does not run alone")
            await work()
            schedule.expect(tally.now == 0, "the barrier did not run alone")
        }
        let operations = ["a", "b"].map { TaskOperation(name: $0, body: work) }
        schedule.runToEnd()
        schedule.thread("clock") { clock.set(to: .seconds(2)) }
        schedule.thread("adder") {
            try? queue.addOperation(operations[0])
            try? operations[1].addDependency(barrier)
            try? queue.addOperation(operations[1])
        }
        schedule.runToEnd()
        schedule.expectEnd(of: barrier, operations[0], operations[1])
        schedule.expect(barrier.failure == nil, "\(barrier.failure!)")
        schedule.expectEmpty(queue)
    }

    /// Between two attempts of an operation, another operation uses the limit. Then the pause ends.
    static let pause = ExploredProgram("pause between attempts / start with its limit / cancel") { schedule in
        let (queue, semaphore, clock) = (TaskOperationQueue(), AsyncSemaphore(capacity: 1), SetClock())
        let (tally, retry) = (Tally(), RetryPolicy { _, _ in .seconds(1) })
        let retried = TaskOperation(name: "retried", [.limit(semaphore), .retry(retry), .clock(clock)]) {
            tally.count("attempt")
            if tally["needing"] == 0 { throw Failure() }
        }
        let needing = TaskOperation(name: "needing", .limit(semaphore)) { tally.count("needing") }
        try? queue.addOperation(retried)
        schedule.thread("adder") { try? queue.addOperation(needing) }
        schedule.thread("canceller") { retried.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: needing)
        clock.set(to: .seconds(2))
        schedule.runToEnd()
        schedule.expectEnd(of: retried)
        schedule.expect(tally["attempt"] <= 2 && tally["needing"] == 1, "\(tally.counts)")
        schedule.expect(semaphore.available == 1, "\(semaphore.available) permits are left")
        schedule.expectEmpty(queue)
    }

    /// After its pause, an operation waits for the permits of two limits. Another operation has the permit of the
    /// second limit. The waiting operation is cancelled while an operation that needs the first limit is added.
    static let cancelledReturn = ExploredProgram("return of lent limits / its cancellation / add") { schedule in
        let (queue, one, two) = (TaskOperationQueue(), AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1))
        let (clock, retry, end) = (SetClock(), RetryPolicy { _, _ in .seconds(1) }, AsyncGroup())
        let retried = TaskOperation(name: "retried", [.limits([one, two]), .retry(retry), .clock(clock)]) {
            throw Failure()
        }
        let keeping = TaskOperation(name: "keeping", .limit(two)) { await end.wait() }
        let behind = TaskOperation(name: "behind", .limit(one)) {}
        end.enter()
        try? queue.addOperation(retried)
        schedule.runToEnd()
        try? queue.addOperation(keeping)
        schedule.runToEnd()
        clock.set(to: .seconds(2))
        schedule.thread("adder") { try? queue.addOperation(behind) }
        schedule.thread("canceller") { retried.cancel() }
        schedule.runToEnd()
        schedule.expectEnd(of: retried, behind)
        end.leave()
        schedule.runToEnd()
        schedule.expectEnd(of: keeping)
        schedule.expect(one.available == 1 && two.available == 1, "permits were not returned")
        schedule.expectEmpty(queue)
    }

    private struct Failure: Error {}
}

/// A clock whose time the program sets.
private final class SetClock: Clock, @unchecked Sendable {
    // Only the thread that has the turn accesses these properties.
    private typealias Sleeper = (number: Int, end: Duration, continuation: CheckedContinuation<Void, Never>)

    private var time = Duration.zero
    private var sleepers: [Sleeper] = []
    private var sleepCount = 0

    var now: ContinuousClock.Instant { ContinuousClock.Instant(time: time) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        sleepCount += 1
        let number = sleepCount
        await _Concurrency.withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                sleepers.append((number, deadline.time, continuation))
                wake { $0.end <= time }
            }
        } onCancel: {
            wake { $0.number == number }
        }
        try Task.checkCancellation()
    }

    func set(to time: Duration) {
        self.time = time
        wake { $0.end <= time }
    }

    private func wake(where isOver: (Sleeper) -> Bool) {
        let woken = sleepers.filter(isOver)
        sleepers.removeAll(where: isOver)
        for sleeper in woken { sleeper.continuation.resume() }
    }
}
