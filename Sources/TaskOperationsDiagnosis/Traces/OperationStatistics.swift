import Synchronization
public import TaskOperations

/// Counts the events of operations, and measures their waiting and execution times, for each observed queue or for each
/// key of a semaphore.
///
/// ```swift
/// let statistics = OperationStatistics()
/// TaskOperationQueue.addObserver(statistics)
/// …
/// for queue in statistics.snapshot { print(queue.name, queue.executed.p99) }
/// ```
///
/// When a queue is released, its counts are added to the counts of released queues with the same name. So the object
/// keeps 16 bytes for each operation that has not started, and one to two kilobytes for each queue and for each name of
/// released queues.
///
/// Operations that end while the object does not observe their queue count as unfinished until the queue is released.
/// To count again after `removeObserver`, create another object.
///
/// With `OperationStatistics(keysOf: hosts)`, the operations that take permits of `hosts` for a key are counted by key,
/// whatever their queue. The number of groups is then bounded, and each counted operation takes 32 bytes more until its
/// end.
public final class OperationStatistics: TaskOperationObserver {
    /// The statistics of the operations of a queue or of a key up to the time of the snapshot.
    public struct Group: Sendable, Codable {
        /// The name of the queue, or the text of the key.
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
        /// The number of operations that were refused because their queue or one of their limits had no room. They do
        /// not count as failed. An operation that its queue refused does not count as added, and is in no group of keys.
        public var refused: Int { refusedByQueue + refusedByLimit }
        var refusedByQueue = 0
        var refusedByLimit = 0
        /// The number of attempts after the first attempts of operations.
        public internal(set) var retries = 0
        /// The times for which operations were ready before they started.
        public internal(set) var waited = DurationHistogram()
        /// The times from the start of operations to their end.
        public internal(set) var executed = DurationHistogram()
        /// The time since the addition of the oldest operation that has not started; nil if there is none.
        public internal(set) var oldestAge: Duration?
        /// The permits of the queue; nil for a key, and after the queue was released.
        fileprivate(set) var width: Int?
        fileprivate(set) var usedPermits = 0
        /// The number of operations that were added and withdrawn. They do not count as added.
        var withdrawn = 0
        /// Whether the group is a queue without a name, or their sum.
        private(set) var isUnnamed = false

        init(name: String, isUnnamed: Bool = false) {
            (self.name, self.isUnnamed) = (name, isUnnamed)
        }
    }

    fileprivate struct State: Sendable {
        /// The groups, by the number of the queue or of the key. Contains no released queues.
        var groups: [Int: Group] = [:]
        /// The unfinished operations of each queue, by the number of the queue.
        var operations: [Int: Operations] = [:]
        /// The sums of released queues, in the order of the first release of each name.
        var released: [Group] = []
        /// The positions of names in `released`.
        var places: [String?: Int] = [:]
        /// The numbers of the keys; nil if the groups are queues.
        var keys: KeyNumbers?
    }

    fileprivate struct Operations: Sendable {
        var waiting = TimeTable()
        var started: [UInt64: Int] = [:]
        /// The group of each operation; empty if the groups are queues.
        var groups: [UInt64: Int] = [:]
    }

    static var unnamedQueues: String { "unnamed queues" }

    private let start = Moment.now
    /// The semaphore whose keys are the groups; nil if the groups are queues.
    let limit: AsyncSemaphore?
    private let state: Lock<State>

    /// Creates statistics with a group for each queue. Pass them to `addObserver` of a queue or of `TaskOperationQueue`.
    public init() {
        limit = nil
        state = Lock(State())
    }

    /// Creates statistics with a group for each key of a semaphore. Pass them to `addObserver` of a queue or of `TaskOperationQueue`.
    ///
    /// Operations that take no permits of the semaphore, or take them without a key, are not counted. An operation that
    /// ended before the queue received it is not counted, either. Keys with equal texts are one group.
    ///
    /// If a key has no group and there are `maxKeyCount` groups, the new key replaces the group that has had no
    /// unfinished operation for the longest time. The counts of that group are added to the group `other keys`. If all
    /// groups have unfinished operations, the operations of the new key are counted in `other keys`. Each event takes
    /// amortised constant time, and the event `added` calls the `description` of the key.
    ///
    /// - Parameters:
    ///   - limit: The semaphore.
    ///   - maxKeyCount: The maximum number of keys with their own group. If it is 0 or negative, all keys are in the
    ///     group `other keys`.
    public init(keysOf limit: AsyncSemaphore, maxKeyCount: Int = 1000) {
        self.limit = limit
        state = Lock(State(keys: KeyNumbers(maxCount: maxKeyCount)))
    }

    /// The current statistics.
    ///
    /// For queues, first the sums of released queues, one for each name, and one for all queues without a name. Then
    /// the queues that were not released, in the order in which they were created. For keys, first the group
    /// `other keys` if it is needed. Then the keys in the order in which their groups began.
    ///
    /// Takes time in proportion to the number of the process's queues, or for keys to the number of unfinished
    /// operations.
    public var snapshot: [Group] {
        // Before the copy, because the last reference to a queue may be released here.
        let queues = limit == nil ? Scheduler.all : []
        // A copy, because the search for the oldest operations must not delay the queues.
        let state = state.withLock { $0 }
        var groups = state.groups
        for queue in queues where groups[queue.queueNumber] != nil { groups[queue.queueNumber]!.read(queue) }
        let now = nanoseconds(.now)
        for (number, time) in state.oldestAdditions {
            groups[number]?.oldestAge = .nanoseconds(max(0, now - time))
        }
        return state.released + groups.sorted { $0.key < $1.key }.map(\.value)
    }

    public func operationChanged(_ event: TaskOperationEvent) {
        let time = nanoseconds(event.moment)
        // The description of a key is user code, which is not called under the lock.
        let key = limit.flatMap { event.key(of: $0) }.map { "\($0)" }
        state.withLock { $0.note(event, key: key, at: time) }
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
    fileprivate mutating func note(_ event: TaskOperationEvent, key: String?, at time: Int) {
        let (queue, number) = (event.queue.number, event.operationNumber)
        guard let group = keys == nil ? queue : groupOfKey(event, key) else { return }
        let hasLeft = operations[queue, default: .init()].note(
            event, at: time, ofQueue: keys == nil,
            in: &groups[group, default: keys == nil ? .init(event.queue) : .init(name: key!)])
        if keys == nil { return }
        if hasLeft { operations[queue]!.groups[number] = nil }
        updateKey(group)
    }

    /// The group of an operation with a key; nil if the event is not counted.
    private mutating func groupOfKey(_ event: TaskOperationEvent, _ key: String?) -> Int? {
        let (queue, number) = (event.queue.number, event.operationNumber)
        if let known = operations[queue]?.groups[number] { return known }
        guard let key else { return nil }
        let (group, replaced) = keys!.number(of: key)
        if group == KeyNumbers.others || replaced != nil {
            var others = groups[KeyNumbers.others] ?? .init(name: "other keys")
            if let replaced { others.add(groups.removeValue(forKey: replaced)!) }
            groups[KeyNumbers.others] = others
        }
        operations[queue, default: .init()].groups[number] = group
        return group
    }

    /// The times at which the oldest operations that have not started were added, by group.
    fileprivate var oldestAdditions: [Int: Int] {
        if keys == nil { return operations.compactMapValues(\.waiting.firstAddition) }
        var times: [Int: Int] = [:]
        for operations in operations.values {
            for (number, group) in operations.groups {
                guard let time = operations.waiting.addition(of: number) else { continue }
                times[group] = min(time, times[group] ?? time)
            }
        }
        return times
    }

    private mutating func updateKey(_ number: Int) {
        let group = groups[number]!
        keys!.setIdle(group.queued == 0 && group.executing == 0, number, group.name)
    }

    fileprivate mutating func release(_ queue: QueueLabel) {
        // Operations are left if the observer was removed from the queue before their ends.
        let left = operations.removeValue(forKey: queue.number)
        if keys != nil {
            for (number, group) in left?.groups ?? [:] {
                if left!.started[number] == nil { groups[group]!.queued -= 1 } else { groups[group]!.executing -= 1 }
                updateKey(group)
            }
            return
        }
        guard let group = groups.removeValue(forKey: queue.number) else { return }
        if let place = places[queue.name] {
            released[place].add(group)
        } else {
            places[queue.name] = released.count
            var sum = OperationStatistics.Group(
                name: queue.name ?? OperationStatistics.unnamedQueues, isUnnamed: queue.name == nil)
            sum.add(group)
            released.append(sum)
        }
    }
}

extension OperationStatistics.Group {
    /// Reads what events do not tell.
    fileprivate mutating func read(_ queue: Scheduler) {
        refusedByQueue = queue.counts.refused
        (width, usedPermits) = queue.permits
    }

    fileprivate init(_ queue: QueueLabel) {
        self.init(name: queue.name ?? "unnamed queue \(queue.number)", isUnnamed: queue.name == nil)
    }

    /// Adds the counts of a group, except those of unfinished operations.
    mutating func add(_ other: OperationStatistics.Group) {
        added += other.added
        succeeded += other.succeeded
        failed += other.failed
        cancelled += other.cancelled
        dropped += other.dropped
        refusedByQueue += other.refusedByQueue
        refusedByLimit += other.refusedByLimit
        withdrawn += other.withdrawn
        retries += other.retries
        waited.add(other.waited)
        executed.add(other.executed)
    }
}

extension OperationStatistics.Operations {
    /// Counts an event in a group, which is the operation's queue or one of its keys. Returns whether the operation has left its queue.
    fileprivate mutating func note(
        _ event: TaskOperationEvent, at time: Int, ofQueue isQueue: Bool, in group: inout OperationStatistics.Group
    ) -> Bool {
        let number = event.operationNumber
        if isQueue { group.refusedByQueue = event.counts.refused }
        let (queued, executing) = (waiting.count, started.count)
        defer {
            group.queued += waiting.count - queued
            group.executing += started.count - executing
        }
        switch event.kind {
        // An observer that was removed from a queue and added again receives known operations again.
        case .added where waiting.contains(number) || started[number] != nil,
            .started where started[number] != nil:
            break
        case .added:
            group.added += 1
            waiting.add(number, at: time)
        case .ready: waiting.setReady(number, at: time)
        case .started:
            let times = waiting.remove(number) ?? (time, time)
            // The waiting time of an operation that was added before the observer is unknown.
            if !event.isReplayed { group.waited.add(nanoseconds: time - max(times.added, times.ready)) }
            started[number] = time
        case .attempt: group.retries += 1
        case .finished(let outcome):
            finish(number, outcome, at: time, in: &group)
            return true
        case .withdrawn:
            group.added -= 1
            group.withdrawn += 1
            _ = waiting.remove(number)
            return true
        default: break
        }
        return false
    }

    private mutating func finish(
        _ number: UInt64, _ outcome: TaskOperationEvent.Outcome, at time: Int,
        in group: inout OperationStatistics.Group
    ) {
        switch outcome {
        case .succeeded: group.succeeded += 1
        case .failed(TaskOperationError.dropped): group.dropped += 1
        case .failed(TaskOperationError.limitFull): group.refusedByLimit += 1
        case .failed: group.failed += 1
        case .cancelled: group.cancelled += 1
        }
        if let begin = started.removeValue(forKey: number) {
            group.executed.add(nanoseconds: time - begin)
        } else {
            _ = waiting.remove(number)
        }
    }
}

/// The numbers of the keys that have their own group. Each call takes amortised constant time.
private struct KeyNumbers: Sendable {
    /// The number of the group of all other keys.
    static var others: Int { 0 }

    private let maxCount: Int
    private var numbers: [String: Int] = [:]
    private var lastNumber = others
    /// The keys without unfinished operations, in the order in which their last operations ended.
    private var idle = WaitingList<(key: String, number: Int)>()
    /// The places of these keys in the list.
    private var places: [Int: Int] = [:]
    private var lastPlace = 0

    init(maxCount: Int) {
        self.maxCount = maxCount
    }

    /// Returns the number of a key, and the number of the idle key that it has replaced.
    mutating func number(of key: String) -> (number: Int, replaced: Int?) {
        if let number = numbers[key] { return (number, nil) }
        var replaced: Int?
        if numbers.count >= maxCount {
            guard let oldest = idle.removeFirst() else { return (Self.others, nil) }
            numbers[oldest.key] = nil
            places[oldest.number] = nil
            replaced = oldest.number
        }
        lastNumber += 1
        numbers[key] = lastNumber
        return (lastNumber, replaced)
    }

    /// Records whether a key has no unfinished operations.
    mutating func setIdle(_ isIdle: Bool, _ number: Int, _ key: String) {
        if number == Self.others || isIdle == (places[number] != nil) { return }
        if isIdle {
            lastPlace += 1
            places[number] = lastPlace
            idle.append((key, number), number: lastPlace)
        } else {
            _ = idle.remove(places.removeValue(forKey: number)!)
        }
    }
}
