/// Estimates for how long an operation that becomes ready would wait for its start.
///
/// An operation that starts reports its sojourn time, from readiness to start, and its place: the number of operations
/// that were before it and have started, and itself. For each level, the sum of the recent times, divided by the sum of
/// the recent places, is the time for each place. The expected wait is this time, multiplied by the place of a new
/// operation. Operations that left without a start have no place; otherwise, a line of operations that end before their
/// start would seem fast. As in CoDel (Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 2012), only sojourn
/// times describe the load. The estimate therefore needs no model of bodies, widths, rates and limits. Unlike the length
/// of a queue, it does not take a burst of short operations for an overload.
///
/// Invariants:
///
/// 1. An operation that finds a free permit has an expected wait of zero. So an estimate that is too long cannot keep a
///    queue empty, and new sojourn times correct it.
/// 2. If operations wait and none starts, the expected wait is at least the time since the last start.
/// 3. A suspension is no sojourn time: operations that were ready before the queue resumed do not count.
struct ExpectedWait: Sendable {
    private struct Entry: Sendable {
        let level: PriorityLevel
        let readyTime: Duration
        /// The number of ready operations of higher levels when the operation became ready.
        let higherCount: Int
        /// The number of operations of the level that had started before.
        let startedBefore: Int
    }

    /// The sums over the operations of a level that have started. The last operation has the weight 1, the one before
    /// 7/8, and so on.
    private struct Sojourns: Sendable {
        var seconds = 0.0
        var places = 0.0
        /// The time of the last start.
        var last = Duration.zero

        mutating func add(_ time: Duration, place: Int, at now: Duration) {
            seconds = seconds * 0.875 + max(0, time / .seconds(1))
            places = places * 0.875 + Double(place)
            last = now
        }

        /// The time for each place in seconds; nil if there is no recent one.
        func secondsForEachPlace(at now: Duration) -> Double? {
            if places == 0 { return nil }
            let forEach = seconds / places
            return (now - last) / .seconds(1) <= max(1, 16 * forEach) ? forEach : nil
        }
    }

    /// The ready operations that have not started, by slot.
    private var entries: [Int: Entry] = [:]
    private var counts = PerLevel<Int>(0)
    /// The number of operations of each level that have started.
    private var startedCounts = PerLevel<Int>(0)
    private var sojourns = PerLevel(Sojourns())
    /// The time of the last start. If no operation was ready then, the time at which the first one became ready.
    private var lastStart = Duration.zero
    /// Operations that were ready before do not count.
    private var resumption = Duration.zero

    /// The number of ready operations.
    var count: Int { entries.count }

    /// The number of operations that start before a new operation of a level.
    private func count(before level: PriorityLevel) -> Int {
        PriorityLevel.allCases.reduce(0) { $1 < level ? $0 : $0 + counts[$1] }
    }

    /// Records that an operation has become ready. A change of its level counts as its readiness.
    mutating func becameReady(_ slot: Int, _ level: PriorityLevel, at now: Duration) {
        if entries.isEmpty { lastStart = now }
        entries[slot] = Entry(
            level: level, readyTime: now, higherCount: count(before: level) - counts[level],
            startedBefore: startedCounts[level])
        counts[level] += 1
    }

    /// Records that an operation starts.
    mutating func started(_ slot: Int, at now: Duration) {
        guard let entry = remove(slot) else { return }
        lastStart = now
        startedCounts[entry.level] += 1
        if entry.readyTime < resumption { return }
        let place = entry.higherCount + startedCounts[entry.level] - entry.startedBefore
        sojourns[entry.level].add(now - entry.readyTime, place: place, at: now)
    }

    /// Records that an operation has left, or is no longer ready. If it was not ready, has no effect.
    mutating func left(_ slot: Int) { _ = remove(slot) }

    private mutating func remove(_ slot: Int) -> Entry? {
        guard let entry = entries.removeValue(forKey: slot) else { return nil }
        counts[entry.level] -= 1
        if entries.isEmpty { entries = [:] }
        return entry
    }

    /// Records that the queue was resumed.
    mutating func resumed(at now: Duration) {
        (resumption, lastStart) = (now, now)
    }

    /// The expected wait of an operation that would become ready now.
    ///
    /// - Parameter freePermits: The number of operations that may start now; not negative.
    func wait(at level: PriorityLevel, freePermits: Int, _ now: Duration) -> Duration {
        let place = 1 + count(before: level) - freePermits
        if place <= 0 { return .zero }
        let stalled = entries.isEmpty ? .zero : max(.zero, now - lastStart)
        // Without a recent sojourn time of the level, that of the next higher level is a lower bound.
        let forEach =
            PriorityLevel.allCases.lazy.filter { $0 >= level }
            .compactMap { sojourns[$0].secondsForEachPlace(at: now) }.first ?? 0
        // Far below the range of a duration, and far above any time that an operation may wait.
        return max(stalled, .seconds(min(forEach * Double(place), 1e9)))
    }
}
