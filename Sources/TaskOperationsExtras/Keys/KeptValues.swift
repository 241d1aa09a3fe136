import Synchronization

#if TASK_OPERATIONS_EXPLORED
    public import TaskOperations  // its clock
#else
    import TaskOperations
#endif

/// The values that `KeyedOperations` keeps after the end of their operations.
///
/// ```swift
/// let images = KeyedOperations<URL, Image>(queue: queue, keeping: .values(maxCount: 200, for: .seconds(600)))
/// ```
public struct KeptValues: Sendable {
    let maxCount: Int
    let time: Duration?
    let clock: any Clock<Duration>

    /// Keeps no values.
    public static var none: KeptValues { KeptValues(maxCount: 0, time: nil, clock: ContinuousClock()) }

    /// Keeps the values that were requested last. Errors are not kept.
    ///
    /// - Parameters:
    ///   - maxCount: The maximum number of values; not negative. If a further value arrives, the value with the oldest
    ///     request is removed.
    ///   - time: The time for which a value is kept after the end of its operation. If nil, it is unlimited. A duration
    ///     that is not positive keeps nothing.
    ///   - clock: The clock that measures the time.
    public static func values(
        maxCount: Int, for time: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) -> KeptValues {
        require(maxCount >= 0, "maxCount is \(maxCount); it must not be negative.")
        return KeptValues(maxCount: maxCount, time: time, clock: clock)
    }
}

/// The finished operations whose values are kept. Each takes constant amortized time, and O(log *n*) if they are kept for a time.
final class KeptOperations: Sendable {
    private struct Entry: Sendable {
        let shared: SharedOperation
        let timer: HandlerTimer?
        /// The number of the last use.
        var lastUse: Int
    }

    private struct Use: Sendable {
        let identity: ObjectIdentifier
        let number: Int
    }

    private struct State: Sendable {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// All uses in their order. A use is outdated if its entry has a later one.
        var uses = Deque<Use>()
        var useCount = 0
        var isClosed = false

        mutating func use(_ identity: ObjectIdentifier) {
            guard entries[identity] != nil else { return }
            useCount += 1
            entries[identity]!.lastUse = useCount
            uses.append(Use(identity: identity, number: useCount))
            if uses.count > 2 * entries.count + 64 {
                uses.removeAll { entries[$0.identity]?.lastUse != $0.number }
            }
        }

        mutating func removeOldest() -> Entry? {
            while let use = uses.popFirst() {
                if entries[use.identity]?.lastUse == use.number { return remove(use.identity) }
            }
            return nil
        }

        mutating func remove(_ identity: ObjectIdentifier) -> Entry? {
            let entry = entries.removeValue(forKey: identity)
            entries.shrink()
            return entry
        }
    }

    private let values: KeptValues
    private let state = Lock(State())

    /// Returns nil if no values are kept.
    init?(_ values: KeptValues) {
        if values.maxCount == 0 { return nil }
        if let time = values.time, time <= .zero { return nil }
        self.values = values
    }

    deinit {
        for entry in state.withLock({ $0.entries.values }) { entry.timer?.end() }
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Keeps a finished operation. Returns false and does nothing if `removeAll` was called.
    func insert(_ shared: SharedOperation) -> Bool {
        let identity = ObjectIdentifier(shared)
        let timer = values.time.map { _ in HandlerTimer { [weak self, weak shared] in shared.map { self?.expire($0) } }
        }
        let (isOpen, removed) = state.withLock { state -> (Bool, [Entry]) in
            if state.isClosed { return (false, []) }
            state.entries[identity] = Entry(shared: shared, timer: timer, lastUse: 0)
            state.use(identity)
            var removed: [Entry] = []
            while state.entries.count > values.maxCount, let entry = state.removeOldest() { removed.append(entry) }
            return (true, removed)
        }
        // The values are released here, without the lock.
        for entry in removed { end(entry) }
        if !isOpen { return false }
        if let timer, let time = values.time {
            timer.start(time, clock: values.clock)
            // If the entry was removed in the meantime, nothing else ends this timer.
            if state.withLock({ $0.entries[identity] == nil }) { timer.end() }
        }
        return true
    }

    /// Records a use of a kept value.
    func use(_ shared: SharedOperation) { state.withLock { $0.use(ObjectIdentifier(shared)) } }

    /// Removes an operation, without a change of the table.
    func remove(_ shared: SharedOperation) {
        let entry = state.withLock { $0.remove(ObjectIdentifier(shared)) }
        entry?.timer?.end()
    }

    /// Removes all operations, and keeps no others.
    func close() {
        let entries = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.entries
        }
        for entry in entries.values { end(entry) }
    }

    private func expire(_ shared: SharedOperation) {
        if let entry = state.withLock({ $0.remove(ObjectIdentifier(shared)) }) { end(entry) }
    }

    private func end(_ entry: Entry) {
        entry.timer?.end()
        entry.shared.remove()
    }
}
