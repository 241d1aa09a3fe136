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

/// A histogram of durations, with four steps for each power of two. A returned duration exceeds the exact one by at
/// most a quarter.
public struct DurationHistogram: Sendable, Hashable, Codable {
    /// The number of durations in each step. The first step ends at 1 μs.
    private var counts: [Int] = []
    /// The number of durations.
    public private(set) var count = 0
    /// The sum of the durations, in seconds.
    public private(set) var sum = 0.0

    mutating func add(nanoseconds: Int) {
        let step = Self.step(of: nanoseconds)
        while counts.count <= step { counts.append(0) }
        counts[step] += 1
        count += 1
        sum += Double(max(0, nanoseconds)) / 1e9
    }

    mutating func add(_ other: DurationHistogram) {
        while counts.count < other.counts.count { counts.append(0) }
        for (step, number) in other.counts.enumerated() { counts[step] += number }
        count += other.count
        sum += other.sum
    }

    /// The step of a duration. The first step contains durations up to 1 μs.
    private static func step(of nanoseconds: Int) -> Int {
        if nanoseconds <= 1000 { return 0 }
        let power = Int.bitWidth - 1 - (nanoseconds / 1000).leadingZeroBitCount
        // The two bits below the highest.
        let quarter = (((nanoseconds / 1000) << 2) >> power) & 3
        return 1 + power * 4 + quarter
    }

    /// The upper bound of a step, in seconds.
    private static func end(of step: Int) -> Double {
        if step == 0 { return 1e-6 }
        let (power, quarter) = (step - 1).quotientAndRemainder(dividingBy: 4)
        return Double(sign: .plus, exponent: power, significand: 1) * (1 + Double(quarter + 1) / 4) * 1e-6
    }

    /// Returns the duration, in seconds, that a given fraction of all durations does not exceed; 0 if there are none.
    ///
    /// - Parameter part: The fraction, from 0 to 1. A number outside this range counts as the nearer bound.
    public func quantile(_ part: Double) -> Double {
        // NaN counts as 0. A large count may be rounded up to a number that is no integer of the system.
        let rank = max(1, Int(exactly: (min(max(0, part), 1) * Double(count)).rounded(.up)) ?? count)
        var seen = 0
        for (step, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return Self.end(of: step) }
        }
        return 0
    }

    /// The duration, in seconds, that half of the durations do not exceed.
    public var p50: Double { quantile(0.5) }

    /// The duration, in seconds, that 99 % of the durations do not exceed.
    public var p99: Double { quantile(0.99) }

    /// The steps that contain durations, as upper bounds in seconds and numbers of durations.
    public var buckets: [(upTo: Double, count: Int)] {
        counts.indices.filter { counts[$0] > 0 }.map { (Self.end(of: $0), counts[$0]) }
    }
}

extension DurationHistogram {
    /// Decodes a histogram.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the counts are negative, or if their sum is not the number of
    ///   durations.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        counts = try container.decode([Int].self, forKey: .counts)
        count = try container.decode(Int.self, forKey: .count)
        sum = try container.decode(Double.self, forKey: .sum)
        var rest = count
        for number in counts where rest >= 0 { rest = number < 0 || number > rest ? -1 : rest - number }
        if rest != 0 {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "The counts contradict each other."))
        }
    }
}
