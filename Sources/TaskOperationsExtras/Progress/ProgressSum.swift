import Synchronization
import TaskOperations

/// The combined progress of all operations of a queue or a group. The operations have equal shares.
///
/// The sum counts ended operations. It reads the fractions of executing operations when `current` is requested.
final class ProgressSum: ProgressSource, OperationCountObserver {
    private struct State: Sendable {
        var added = 0
        var ended = 0
        /// The units of unfinished operations that have reported progress. They are numbered in order of registration.
        var reporting: [ObjectIdentifier: Reporting] = [:]
        var lastNumber = 0
        var listeners = ProgressListeners()
        /// The largest returned sum `done` since the number `added` last changed.
        var most = (added: 0, done: 0.0)
        /// The number of the queue. Operations find the sum by this number.
        var queueNumber: Int?
        /// Whether the queue is released, so that no operation can follow.
        var isQueueReleased = false
    }

    /// An operation that has reported progress. Load the weak reference with no lock held, because the result may become
    /// the last reference.
    private struct Reporting: Sendable {
        let number: Int
        let unit: ProgressUnit
        weak let operation: AnyTaskOperation?

        /// The fraction of an unfinished operation; 0 for a finished one, which the sum counts, or soon will count.
        var fraction: Double {
            let progress = unit.current
            return progress.isFinished || operation?.isFinished ?? true ? 0 : progress.fraction
        }
    }

    private let state = Lock(State())
    /// The progress of the group whose operations are summed; nil for a queue.
    private let group: ProgressUnit?

    init(of group: ProgressUnit? = nil) {
        self.group = group
    }

    deinit { unregister() }

    /// The current progress, with at least one operation.
    var current: OperationProgress { progress(expecting: 1) }

    /// Returns the current progress. It decreases only if operations are added beyond `count`. It does not decrease if an
    /// ended operation is not counted yet, or if an operation runs its body again.
    func progress(expecting count: Int) -> OperationProgress {
        let (added, ended, reporting, isQueueReleased) = state.withLock {
            ($0.added, $0.ended, Array($0.reporting.values), $0.isQueueReleased)
        }
        // Sorted, because the rounded sum of floating-point numbers depends on their order. Read after `ended`, so that no
        // operation counts twice.
        let done = reporting.sorted { $0.number < $1.number }.reduce(Double(ended)) { $0 + $1.fraction }
        let most = state.withLock { state in
            if state.most.added != added || state.most.done < done { state.most = (added, done) }
            return state.most.done
        }
        let total = group == nil && !isQueueReleased ? max(added, count) : added
        return OperationProgress(
            fraction: total == 0 ? 0 : most / Double(total), completed: ended, total: total,
            isFinished: group == nil && ended == total)
    }

    func add(_ listener: ProgressListener) { state.withLock { $0.listeners.add(listener) } }

    func remove(_ listener: ProgressListener) { state.withLock { $0.listeners.remove(listener) } }

    func add(_ unit: ProgressUnit, of operation: AnyTaskOperation) {
        state.withLock { state in
            state.lastNumber += 1
            state.reporting[ObjectIdentifier(unit)] =
                Reporting(number: state.lastNumber, unit: unit, operation: operation)
        }
    }

    func remove(_ unit: ProgressUnit) {
        let removed = state.withLock { $0.reporting.removeValue(forKey: ObjectIdentifier(unit)) }
        extendLifetime(removed)
    }

    /// Wakes the listeners of this sum, of its group, and of the sums that contain the group. Uses no recursion, because
    /// groups may be nested thousands deep.
    func changed() {
        var sum: ProgressSum? = self
        while let changed = sum {
            let listeners = changed.state.withLock { $0.listeners.all }
            for listener in listeners { listener.wake() }
            sum = changed.group?.wakeListeners()
        }
    }

    // MARK: Counts

    /// Updates the counts. Calls may arrive out of order, so that only increases are accepted.
    func countsChanged(added: Int, unfinished: Int) {
        let hasChanged = state.withLock { state in
            let former = (state.added, state.ended)
            state.added = max(state.added, added)
            state.ended = max(state.ended, added - unfinished)
            return former != (state.added, state.ended)
        }
        // Most events change no count. A body that lends its permit while it waits for a change causes such events
        // itself.
        if hasChanged { changed() }
    }

    func queueReleased() {
        state.withLock { $0.isQueueReleased = true }
        changed()
    }

    /// Counts an added operation of a group.
    func countAddition() {
        state.withLock { $0.added += 1 }
        changed()
    }

    /// Counts an ended operation of a group, or takes back the addition of a refused operation.
    func countEnd(wasAdded: Bool = true) {
        state.withLock { state in
            if wasAdded { state.ended += 1 } else { state.added -= 1 }
        }
        changed()
    }
}

// MARK: - Finding the sum of a queue

extension ProgressSum {
    /// A weak reference to a sum. Load the reference after unlocking, because releasing it may free the sum.
    private struct WeakSum: Sendable {
        weak let sum: ProgressSum?
    }

    /// The sums, by the numbers of their queues. Addresses of queues are no unique keys. A sum may outlive its queue,
    /// and a new queue may then have the same address.
    private static let sums = Lock<[Int: WeakSum]>([:])
    /// The number of sums. If it is 0, operations skip the search.
    private static let count = Atomic(0)

    /// Registers the sum for a queue. Operations of the queue then find the sum when they report progress. A second
    /// call has no effect.
    func register(for scheduler: Scheduler) {
        let isNew = state.withLock { state in
            if state.queueNumber != nil { return false }
            state.queueNumber = scheduler.queueNumber
            return true
        }
        if !isNew { return }
        Self.count.add(1, ordering: .sequentiallyConsistent)
        Self.sums.withLock { $0[scheduler.queueNumber] = WeakSum(sum: self) }
    }

    private func unregister() {
        guard let queueNumber = state.withLock({ $0.queueNumber }) else { return }
        Self.sums.withLock { $0[queueNumber] = nil }
        Self.count.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// Returns the sum of the operation's queue; nil if the queue has no sum.
    static func ofQueue(of operation: AnyTaskOperation) -> ProgressSum? {
        if count.load(ordering: .sequentiallyConsistent) == 0 { return nil }
        guard let scheduler = operation.scheduler else { return nil }
        return sums.withLock { $0[scheduler.queueNumber] }?.sum
    }
}
