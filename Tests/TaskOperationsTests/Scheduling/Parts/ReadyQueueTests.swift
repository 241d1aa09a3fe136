import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("ReadyQueue, beside a plain list", .inTurns)
struct ReadyQueueTests {
    private typealias Entry = ReadyQueue.Entry

    /// A queue, and the slots and levels of its entries by arrival.
    private struct Pair {
        var queue: ReadyQueue
        var levels: [Int: PriorityLevel] = [:]
        var slots: [Int: Int] = [:]
        /// Whether an entry that returns has another slot than before.
        let changesSlots: Bool

        init(_ order: TaskOperationQueue.Configuration.Order = .firstInFirstOut, changesSlots: Bool = false) {
            queue = ReadyQueue(order: order)
            self.changesSlots = changesSlots
        }

        mutating func insert(_ arrival: Int, at level: PriorityLevel) {
            levels[arrival] = level
            slots[arrival, default: arrival] += changesSlots ? 1000 : 0
            queue.insert(entry(arrival), at: level)
        }

        mutating func remove(_ arrival: Int) {
            queue.remove(entry(arrival), at: levels.removeValue(forKey: arrival)!)
        }

        /// Removes the first entry. Returns whether it was the expected one.
        mutating func nextIsFirst() -> Bool {
            let first = levels.max { left, right in
                if left.value != right.value { return left.value < right.value }
                return (left.key > right.key) == (queue.order == .firstInFirstOut)
            }
            let announced = queue.first
            let next = queue.popFirst()
            if let first { levels[first.key] = nil }
            return next == first.map { entry($0.key) } && announced?.level == first?.value && announced?.entry == next
        }

        private func entry(_ arrival: Int) -> Entry { Entry(arrival: UInt64(arrival), slot: slots[arrival]!) }
    }

    @Test(
        "The highest level comes first, and within it what the order says, whatever was removed",
        arguments: [TaskOperationQueue.Configuration.Order.firstInFirstOut, .lastInFirstOut], [false, true])
    func randomEntries(order: TaskOperationQueue.Configuration.Order, changesSlots: Bool) {
        for seed in 0..<12 {
            var random = SeededGenerator(seed: UInt64(seed))
            var pair = Pair(order, changesSlots: changesSlots)
            for arrival in 1...500 {
                pair.insert(arrival, at: random.level())
                guard disturb(&pair, &random), pair.queue.count == pair.levels.count else {
                    Issue.record("seed \(seed), arrival \(arrival): \(pair.queue) is not \(pair.levels)")
                    return
                }
            }
            while !pair.levels.isEmpty, pair.nextIsFirst() {}
            #expect(pair.levels.isEmpty && pair.queue.isEmpty && pair.queue.first == nil, "seed \(seed)")
            #expect(pair.queue.entriesWithRemoved.isEmpty, "seed \(seed)")
        }
    }

    /// Removes up to two entries, or changes their levels and perhaps inserts them again. Returns whether the removed
    /// entries were the expected ones.
    private func disturb(_ pair: inout Pair, _ random: inout SeededGenerator) -> Bool {
        for _ in 0..<random.number(below: 3) {
            guard let arrival = pair.levels.keys.sorted().randomElement(using: &random) else { return true }
            if random.happens(percent: 40) {
                guard pair.nextIsFirst() else { return false }
            } else {
                let level = pair.levels[arrival]!
                pair.remove(arrival)
                let newLevel = random.happens(percent: 30) ? level : random.level()
                if random.happens(percent: 50) { pair.insert(arrival, at: newLevel) }
            }
        }
        return true
    }

    @Test(
        "Entries that come and go for ever take a bounded place", arguments: [1, 100],
        [TaskOperationQueue.Configuration.Order.firstInFirstOut, .lastInFirstOut])
    func toggling(others: Int, order: TaskOperationQueue.Configuration.Order) {
        var pair = Pair(order)
        for slot in 1...others { pair.insert(slot, at: .medium) }
        for _ in 0..<10_000 {
            pair.insert(others + 1, at: .medium)
            pair.insert(others + 2, at: .low)
            pair.remove(others + 1)
            pair.remove(others + 2)
        }
        #expect(pair.queue.entriesWithRemoved.count < 400)
        while !pair.levels.isEmpty, pair.nextIsFirst() {}
        #expect(pair.levels.isEmpty && pair.queue.isEmpty)
    }
}
