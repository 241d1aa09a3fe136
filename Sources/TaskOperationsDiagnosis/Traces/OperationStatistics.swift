import Synchronization
public import TaskOperations

/// Counts the events of operations, and measures their waiting and execution times, for each observed queue.
///
/// ```swift
/// let statistics = OperationStatistics()
/// TaskOperationQueue.observeAll(statistics)
/// …
/// for queue in statistics.snapshot { print(queue.name, queue.executed.p99) }
/// ```
///
/// When a queue is released, its counts are added to the counts of released queues with the same name. So the object
/// keeps 16 bytes for each operation that has not started, and one to two kilobytes for each queue and for each name of
/// released queues.
public final class OperationStatistics: TaskOperationObserver {
    /// The statistics of a queue's operations up to the time of the snapshot.
    public struct Queue: Sendable, Codable {
        /// The name of the queue.
        public let name: String
        /// The number of operations that were added and have not started.
        public internal(set) var queued = 0
        /// The number of operations that have started and not finished.
        public internal(set) var executing = 0
        /// The total number of operations that were added.
        public internal(set) var added = 0
        /// The number of operations that succeeded.
        public internal(set) var succeeded = 0
        /// The number of operations that failed.
        public internal(set) var failed = 0
        /// The number of operations that were cancelled.
        public internal(set) var cancelled = 0
        /// The number of operations that were dropped because the queue was full. They do not count as failed.
        public internal(set) var dropped = 0
        /// The number of operations that were refused because of their expected waits. They do not count as failed.
        public internal(set) var refused = 0
        /// The number of attempts after the first attempts of operations.
        public internal(set) var retries = 0
        /// The times for which operations were ready before they started.
        public internal(set) var waited = DurationHistogram()
        /// The times from the start of operations to their end.
        public internal(set) var executed = DurationHistogram()
    }

    fileprivate struct State: Sendable {
        /// The queues that were not released, by number.
        var entries: [Int: Entry] = [:]
        /// The sums of released queues, in the order of the first release of each name.
        var released: [Queue] = []
        /// The positions of names in `released`.
        var places: [String?: Int] = [:]
    }

    fileprivate struct Entry: Sendable {
        var statistics: Queue
        var waiting = TimeTable()
        var started: [UInt64: Int] = [:]
    }

    private let start = Moment.now
    private let state = Lock(State())

    /// Creates statistics without a queue. Pass them to `addObserver` or `observeAll`.
    public init() {}

    /// The current statistics. First the sums of released queues, one for each name, and one for all queues without a
    /// name. Then the queues that were not released, in the order in which they were created.
    public var snapshot: [Queue] {
        let (released, entries) = state.withLock { ($0.released, $0.entries) }
        return released + entries.sorted { $0.key < $1.key }.map(\.value.statistics)
    }

    public func operationChanged(_ event: TaskOperationEvent) {
        let time = nanoseconds(event.moment)
        state.withLock { state in
            let new = Entry(statistics: Queue(name: event.queue.name ?? "unnamed queue \(event.queue.number)"))
            state.entries[event.queue.number, default: new].note(event, at: time)
        }
    }

    public func queueWasReleased(_ queue: QueueLabel) {
        state.withLock { $0.release(queue) }
    }

    private func nanoseconds(_ moment: Moment) -> Int {
        let (seconds, attoseconds) = (moment - start).components
        return max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }
}

extension OperationStatistics.State {
    fileprivate mutating func release(_ queue: QueueLabel) {
        guard let entry = entries.removeValue(forKey: queue.number) else { return }
        if let place = places[queue.name] {
            released[place].add(entry.statistics)
        } else {
            places[queue.name] = released.count
            var sum = OperationStatistics.Queue(name: queue.name ?? "unnamed queues")
            sum.add(entry.statistics)
            released.append(sum)
        }
    }
}

extension OperationStatistics.Queue {
    fileprivate mutating func add(_ other: OperationStatistics.Queue) {
        queued += other.queued
        executing += other.executing
        added += other.added
        succeeded += other.succeeded
        failed += other.failed
        cancelled += other.cancelled
        dropped += other.dropped
        refused += other.refused
        retries += other.retries
        waited.add(other.waited)
        executed.add(other.executed)
    }
}

extension OperationStatistics.Entry {
    fileprivate mutating func note(_ event: TaskOperationEvent, at time: Int) {
        let number = event.operationNumber
        switch event.kind {
        case .added:
            statistics.added += 1
            waiting.add(number, at: time)
        case .ready: waiting.setReady(number, at: time)
        case .started:
            let times = waiting.remove(number) ?? (time, time)
            // The waiting time of an operation that was added before the observer is unknown.
            if !event.isReplayed { statistics.waited.add(nanoseconds: time - max(times.added, times.ready)) }
            started[number] = time
        case .attempt: statistics.retries += 1
        case .finished(let outcome): finish(number, outcome, at: time)
        case .withdrawn:
            statistics.added -= 1
            _ = waiting.remove(number)
        default: break
        }
        statistics.queued = waiting.count
        statistics.executing = started.count
    }

    private mutating func finish(_ number: UInt64, _ outcome: TaskOperationEvent.Outcome, at time: Int) {
        switch outcome {
        case .succeeded: statistics.succeeded += 1
        case .failed(TaskOperationError.dropped): statistics.dropped += 1
        case .failed(TaskOperationError.overloaded): statistics.refused += 1
        case .failed: statistics.failed += 1
        case .cancelled: statistics.cancelled += 1
        }
        if let begin = started.removeValue(forKey: number) {
            statistics.executed.add(nanoseconds: time - begin)
        } else {
            _ = waiting.remove(number)
        }
    }
}
