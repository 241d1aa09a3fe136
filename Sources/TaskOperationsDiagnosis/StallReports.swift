public import TaskOperations

/// A sequence of reports on the stalls of a queue. See `TaskOperationQueue.stalls(longerThan:clock:)`.
public struct StallReports: AsyncSequence, Sendable {
    public typealias Element = StallReport
    public typealias Failure = Never

    /// A weak reference to a scheduler. Load it without a lock, because releasing the result may free the scheduler.
    private struct WeakScheduler: Sendable {
        weak let scheduler: Scheduler?
    }

    private let source: WeakScheduler
    private let makeWatch: @Sendable (Scheduler, @escaping @Sendable (StallReport?) -> Void) -> StallWatch

    init(_ scheduler: Scheduler, longerThan limit: Duration, clock: any Clock<Duration>) {
        source = WeakScheduler(scheduler: scheduler)
        makeWatch = { StallWatch($0, longerThan: limit, clock: clock, send: $1) }
    }

    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StallReport.self, bufferingPolicy: .bufferingNewest(16))
        guard let scheduler = source.scheduler else {
            continuation.finish()
            return Iterator(stream, nil)
        }
        let watch = makeWatch(scheduler) { report in
            if let report { continuation.yield(report) } else { continuation.finish() }
        }
        return Iterator(stream, Subscription(watch))
    }

    /// An iterator over the reports.
    public struct Iterator: AsyncIteratorProtocol {
        private var reports: AsyncStream<StallReport>.Iterator
        private let subscription: Subscription?

        fileprivate init(_ stream: AsyncStream<StallReport>, _ subscription: Subscription?) {
            reports = stream.makeAsyncIterator()
            self.subscription = subscription
        }

        public mutating func next() async -> StallReport? {
            await reports.next(isolation: #isolation)
        }
    }

    /// A watch of the queue. It ends when this object is released.
    fileprivate final class Subscription: Sendable {
        private let watch: StallWatch
        private let task: Task<Void, Never>?

        init(_ watch: StallWatch) {
            self.watch = watch
            task = watch.start()
        }

        deinit {
            task?.cancel()
            watch.end()
        }
    }
}

extension TaskOperationQueue {
    /// Returns a sequence of reports on stalls of the queue. A queue stalls if it has operations, but no operation ends
    /// within the timeout. A report contains the holders of permits, their waits, and the cause of the stall. While
    /// the stall continues, another report is sent after each further period of the timeout. A body of the queue is no
    /// cause before it has executed for the timeout.
    ///
    /// ```swift
    /// for await report in queue.stalls(longerThan: .seconds(10)) { print(report) }
    /// ```
    ///
    /// The queue is watched during the iteration, by an observer and a thread. The thread also detects bodies that
    /// block all threads of the cooperative pool. To receive such a report, iterate on the main actor, or on an
    /// executor with its own threads.
    ///
    /// If all operations only wait for delays, no stall is reported. The sequence ends when the queue is released or
    /// the iterating task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: The time without the end of an operation after which a stall is reported. It must be positive.
    ///   - clock: The clock that measures the limit.
    public func stalls(
        longerThan limit: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) -> StallReports {
        require(limit > .zero, "the limit for stalls is \(limit); it must be more than zero.")
        return StallReports(scheduler, longerThan: limit, clock: clock)
    }
}
