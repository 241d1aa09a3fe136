import TaskOperationsTesting
import Testing

@testable import TaskOperations

@Suite("ReadyOrder, beside a plain list")
struct ReadyOrderTests {
    private typealias Entry = ReadyOrder.Entry

    /// What stands in line, by slot: an entry of the order counts only where this says the same.
    private struct Owner {
        var order = ReadyOrder()
        var current: [Int: PriorityLevel] = [:]
        var sweeps = 0

        func isCurrent(_ entry: Entry, _ level: PriorityLevel) -> Bool { current[entry.slot] == level }

        mutating func insert(_ slot: Int, at level: PriorityLevel) {
            current[slot] = level
            order.insert(Entry(arrival: UInt64(slot), slot: slot), at: level)
        }

        mutating func abandon(_ slot: Int) {
            current[slot] = nil
            guard order.abandonOne() else { return }
            sweeps += 1
            order.sweep { [current] in current[$0.slot] == $1 }
        }

        /// Removes what comes first, past all that is abandoned.
        mutating func next() -> (slot: Int, level: PriorityLevel)? {
            while let (entry, level) = order.head {
                let isCurrent = isCurrent(entry, level)
                order.removeHead(of: level, isAbandoned: !isCurrent)
                if isCurrent {
                    current[entry.slot] = nil
                    return (entry.slot, level)
                }
            }
            return nil
        }

        /// Removes what comes first, and says whether it ought to.
        mutating func nextIsFirst() -> Bool {
            let first = current.max { ($0.value, $1.key) < ($1.value, $0.key) }
            let next = next()
            return next?.slot == first?.key && next?.level == first?.value
        }
    }

    @Test("The highest level comes first, and within it the earliest arrival, whatever was abandoned")
    func randomEntries() {
        var sweeps = 0
        for seed in 0..<12 {
            var random = SeededGenerator(seed: UInt64(seed))
            var owner = Owner()
            for slot in 1...500 {
                owner.insert(slot, at: random.level())
                guard disturb(&owner, &random),
                    owner.order.entries.count - owner.order.abandoned == owner.current.count
                else {
                    Issue.record("seed \(seed), slot \(slot): \(owner.order) is not \(owner.current)")
                    return
                }
            }
            while !owner.current.isEmpty, owner.nextIsFirst() {}
            let left = owner.next()
            #expect(left == nil && owner.current.isEmpty, "seed \(seed)")
            sweeps += owner.sweeps
        }
        #expect(sweeps > 12)
    }

    /// Up to two entries leave, or change their level. Returns whether the right ones left.
    private func disturb(_ owner: inout Owner, _ random: inout SeededGenerator) -> Bool {
        for _ in 0..<random.number(below: 3) {
            guard let slot = owner.current.keys.sorted().randomElement(using: &random) else { return true }
            if random.happens(percent: 40) {
                guard owner.nextIsFirst() else { return false }
            } else {
                owner.abandon(slot)
                if random.happens(percent: 50) { owner.insert(slot, at: random.level()) }
            }
        }
        return true
    }

    @Test("An entry that comes and goes for ever takes a bounded place")
    func toggling() {
        var owner = Owner()
        owner.insert(1, at: .low)
        for _ in 0..<10_000 {
            owner.insert(2, at: .medium)
            owner.abandon(2)
        }
        #expect(owner.order.entries.count < 200)
        let served = [owner.next()?.slot, owner.next()?.slot]
        #expect(served == [1, nil])
    }

    @Test("Sweeping keeps one entry of those that say the same")
    func sweepingDuplicates() {
        var order = ReadyOrder()
        for slot in [1, 2, 1, 1, 3, 2] { order.insert(Entry(arrival: UInt64(slot), slot: slot), at: .medium) }
        order.sweep { entry, _ in entry.slot != 3 }
        #expect(order.entries.map(\.entry.slot).sorted() == [1, 2])
        #expect(order.abandoned == 0)
    }

    @Test("An empty order has no head")
    func emptyOrder() {
        var order = ReadyOrder()
        #expect(order.head == nil)
        order.insert(Entry(arrival: 1, slot: 0), at: .high)
        #expect(order.head?.level == .high)
        order.removeHead(of: .high)
        #expect(order.head == nil)
    }
}
