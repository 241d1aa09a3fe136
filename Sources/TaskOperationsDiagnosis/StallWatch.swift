internal import CTaskOperations
import Synchronization
import TaskOperations
import TaskOperationsExtras

/// Watches a queue on its own thread, so that the watch works even if bodies block all threads of the pool.
final class StallWatch: TaskOperationObserver {
    private struct Progress: Sendable {
        var unfinishedCount = 0
        /// The time at which the watch began.
        var begin = Duration.zero
        /// The time at which an operation last ended, or at which the first operation was added.
        var last = Duration.zero
        /// The times at which the bodies that execute began, by the number of the operation.
        var begins: [UInt64: Duration] = [:]
        var isOver = false
    }

    private weak let scheduler: Scheduler?
    private let limit: Duration
    private let clock: ClockFace
    /// Whether the thread waits for a deadline: the clock measures system time, and no schedule controls the watch.
    private let blocksThread: Bool
    private let progress = Monitor(Progress())
    private let thread = ThreadExecutor(name: "stall watch")
    private let send: @Sendable (StallReport?) -> Void

    /// - Parameter send: A function that receives the reports, and nil at the end.
    init<C: Clock>(
        _ scheduler: Scheduler, longerThan limit: Duration, clock: C, send: @escaping @Sendable (StallReport?) -> Void
    ) where C.Duration == Duration {
        self.scheduler = scheduler
        self.limit = limit.saturated
        self.clock = ClockFace(clock)
        blocksThread = (clock is ContinuousClock || clock is SuspendingClock) && taskOperationsRunNumber() == 0
        self.send = send
    }

    /// Begins to watch. Returns the watching task.
    func start() -> Task<Void, Never>? {
        guard let scheduler else { return nil }
        // The time of existing operations begins now, even if another thread reports them later.
        let (now, count) = (clock.now, scheduler.counts.unfinished)
        progress.withLock { $0 = Progress(unfinishedCount: count, begin: now, last: now) }
        scheduler.addObserver(self)
        return Task.detached(executorPreference: thread, priority: .high) { await self.run() }
    }

    /// Stops watching.
    func end() {
        scheduler?.removeObserver(self)
        stop()
    }

    private func stop() {
        progress.withLock { $0.isOver = true }
        progress.wakeAll()
    }

    // MARK: Observing

    func operationChanged(_ event: TaskOperationEvent) {
        let now = clock.now
        progress.withLock { progress in
            if event.kind.isEnd || (progress.unfinishedCount == 0 && !event.isReplayed) { progress.last = now }
            progress.unfinishedCount = event.counts.unfinished
            switch event.kind {
            case .started:
                progress.begins[event.operationNumber] = event.isReplayed ? progress.begin : now
            case .finished, .withdrawn: progress.begins[event.operationNumber] = nil
            default: break
            }
        }
    }

    func queueWasReleased(_ queue: QueueLabel) {
        stop()
        send(nil)
    }

    // MARK: Watching

    private func run() async {
        var reported = Duration.zero
        while !Task.isCancelled {
            let (now, progress) = (clock.now, progress.withLock { $0 })
            if progress.isOver { break }
            let due = max(progress.last, reported) + limit
            if progress.unfinishedCount > 0, now >= due {
                reported = now
                let young = progress.begins.filter { now - $0.value < limit }
                if let report = report(lasting: now - progress.last, young: Set(young.keys)) {
                    send(report)
                } else if let first = young.values.min() {
                    // The next look follows as soon as the first of these bodies is not young any more.
                    reported = first
                }
            } else {
                await sleep(until: progress.unfinishedCount > 0 ? due : now + limit)
            }
        }
        send(nil)
    }

    private func sleep(until moment: Duration) async {
        if !blocksThread { return await clock.sleep(until: moment) }
        let rest = moment - clock.now
        _ = progress.wait(for: rest) { progress, isLate in progress.isOver || isLate ? true : nil }
    }

    private func report(lasting duration: Duration, young: Set<UInt64>) -> StallReport? {
        guard let scheduler else { return nil }
        let graph = OperationGraph(of: [scheduler], follows: true)
        let queue = QueueLabel(scheduler)
        let search = StallSearch(graph, from: queue, young: young)
        guard var culprit = search.culprit else { return nil }
        let isPoolBlocked = isPoolBlocked(at: search.lastPriority)
        if isPoolBlocked, case .executor = culprit { culprit = .pool }
        return StallReport(
            queue: queue, duration: duration, chain: search.chain, culprit: culprit, isPoolBlocked: isPoolBlocked,
            graph: graph)
    }

    /// Whether a task of a given priority does not run within a second. On some systems, each priority has its own
    /// threads.
    private func isPoolBlocked(at priority: TaskPriority) -> Bool {
        let probe = Monitor(false)
        Task.detached(priority: priority) {
            probe.withLock { $0 = true }
            probe.wakeAll()
        }
        return probe.wait(for: .seconds(1)) { hasRun, _ in hasRun ? true : nil } == nil
    }
}

extension TaskOperationEvent.Kind {
    fileprivate var isEnd: Bool {
        switch self {
        case .finished, .withdrawn: true
        default: false
        }
    }
}
