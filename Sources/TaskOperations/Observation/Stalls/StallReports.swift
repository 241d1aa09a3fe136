/// What is wrong with a queue that stands still, as a sequence: see `TaskOperationQueue.stalls(longerThan:clock:)`.
public struct StallReports: AsyncSequence, Sendable {
    public typealias Element = StallReport
    public typealias Failure = Never

    /// Loaded with no lock held: the load may return what becomes the last reference.
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

    /// Goes through the reports.
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

    /// Watches as long as it lives.
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
    /// Watches the queue while it is iterated, and reports when nothing has ended for some time though something is there:
    /// who holds permits, what they wait for, and what holds all of it up. It reports again each time as much has passed.
    ///
    /// ```swift
    /// for await report in queue.stalls(longerThan: .seconds(10)) { print(report) }
    /// ```
    ///
    /// The watch has a thread of its own, which sleeps; so it sees that bodies block all threads of the cooperative pool.
    /// To hear of that, iterate on the main actor, or on an executor that has threads of its own. The queue is observed
    /// meanwhile. What only waits for delays is not reported. The sequence ends when the queue is gone, or the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - limit: How long nothing may end; more than zero.
    ///   - clock: What measures that.
    public func stalls(
        longerThan limit: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) -> StallReports {
        require(limit > .zero, "the limit for stalls is \(limit); it must be more than zero.")
        return StallReports(scheduler, longerThan: limit, clock: clock)
    }
}
