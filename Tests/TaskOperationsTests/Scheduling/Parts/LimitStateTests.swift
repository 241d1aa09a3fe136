import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("LimitState without keys, beside a plain list", .inTurns)
struct LimitStateTests {
    /// The waiters in the order of arrival.
    private struct Naive {
        struct Waiter: Equatable {
            let number: Int
            let weight: Int
            var level: PriorityLevel
        }

        var capacity: Int
        var taken = 0
        var waiting: [Waiter] = []

        var available: Int { max(0, capacity - taken) }

        /// The index of the waiter that is served first.
        var first: Int? {
            let highest = waiting.map(\.level).max()
            return waiting.firstIndex { $0.level == highest }
        }

        mutating func next() -> Int? {
            guard let first, waiting[first].weight <= available || (taken == 0 && capacity > 0) else { return nil }
            taken += waiting[first].weight
            return waiting.remove(at: first).number
        }
    }

    private struct Pair {
        var state: LimitState<Int>
        var naive: Naive
        var tickets: [Int: LimitState<Int>.Ticket] = [:]
        /// The weights of permits that were acquired and not released.
        var held: [Int] = []
        var served = 0

        init(capacity: Int) {
            state = LimitState(capacity: capacity)
            naive = Naive(capacity: capacity)
        }

        /// Serves waiters until none can be served. Returns whether both served the same ones.
        mutating func serve() -> Bool {
            while true {
                let weights = Dictionary(uniqueKeysWithValues: naive.waiting.map { ($0.number, $0.weight) })
                let (number, expected) = (state.next(), naive.next())
                if number != expected { return false }
                guard let number else { break }
                held.append(weights[number]!)
                served += 1
            }
            return state.waitingCount == naive.waiting.count && state.permits.available == naive.available
                && state.permits.taken == held.reduce(0, +)
        }
    }

    @Test(
        "Waiting, leaving, rising, releasing and other capacities serve the same as a plain list", arguments: [3, 40])
    func randomUse(mostWaiting: Int) {
        var served = 0
        for seed in 0..<60 {
            var random = SeededGenerator(seed: UInt64(seed))
            var pair = Pair(capacity: random.number(below: 4))
            for number in 0..<300 {
                step(number, &pair, &random, mostWaiting: mostWaiting)
                guard pair.serve() else {
                    Issue.record("seed \(seed), step \(number): \(pair)")
                    return
                }
            }
            served += pair.served
        }
        #expect(served > 1000)
    }

    private func step(_ number: Int, _ pair: inout Pair, _ random: inout SeededGenerator, mostWaiting: Int) {
        let weight = random.number(below: 3) + 1
        switch random.number(below: 12) {
        case 0..<3 where pair.naive.waiting.count < mostWaiting:
            let level = random.level()
            pair.tickets[number] = pair.state.wait(
                number, weight: weight, level: level, arrival: LineArrival(number))
            pair.naive.waiting.append(.init(number: number, weight: weight, level: level))
        case 3..<5:
            let expected = pair.naive.waiting.isEmpty && weight <= pair.naive.available
            let acquired = pair.state.tryAcquire(weight)
            #expect(acquired == expected)
            if expected {
                pair.naive.taken += weight
                pair.held.append(weight)
            }
        case 5:
            let capacity = random.number(below: 6)
            pair.state.setCapacity(capacity)
            pair.naive.capacity = capacity
        case 6:
            leave(&pair, &random)
        case 7, 8:
            raise(&pair, &random)
        default:
            guard let held = pair.held.indices.randomElement(using: &random) else { return }
            let weight = pair.held.remove(at: held)
            pair.state.release(weight)
            pair.naive.taken -= weight
        }
    }

    /// Removes a waiter. The waiter may have been served or removed before.
    private func leave(_ pair: inout Pair, _ random: inout SeededGenerator) {
        guard let (number, ticket) = pair.tickets.sorted(by: { $0.key < $1.key }).randomElement(using: &random)
        else { return }
        let isWaiting = pair.naive.waiting.contains { $0.number == number }
        let left = pair.state.leave(ticket)
        #expect(left == (isWaiting ? number : nil))
        pair.naive.waiting.removeAll { $0.number == number }
    }

    private func raise(_ pair: inout Pair, _ random: inout SeededGenerator) {
        guard
            let (number, ticket) = pair.tickets.sorted(by: { $0.key < $1.key }).suffix(8).randomElement(using: &random)
        else { return }
        let level = random.level()
        pair.state.raise(ticket, to: level)
        if let index = pair.naive.waiting.firstIndex(where: { $0.number == number }) {
            pair.naive.waiting[index].level = max(pair.naive.waiting[index].level, level)
        }
    }

    @Test("Many removals keep the order of the other waiters")
    func leavingStorm() {
        var state = LimitState<Int>(capacity: 0)
        let tickets = (0..<1000).map { state.wait($0, weight: 1, level: .medium, arrival: LineArrival($0)) }
        let leaving = (0..<1000).filter { $0 % 10 != 0 }
        let left = leaving.map { state.leave(tickets[$0]) }
        #expect(left == leaving)
        #expect(state.waitingCount == 100)
        state.setCapacity(1000)
        let served = (0...100).map { _ in state.next() }
        #expect(served == (0..<100).map { $0 * 10 } + [nil])
        #expect(state.permits.taken == 100)
    }

    @Test("One that wants many permits is not overtaken by later ones that want few")
    func heavyWaiterFirst() {
        var state = LimitState<String>(capacity: 3)
        _ = state.tryAcquire(2)
        _ = state.wait("heavy", weight: 3, level: .medium, arrival: LineArrival(1))
        _ = state.wait("light", weight: 1, level: .medium, arrival: LineArrival(2))
        let early = (state.next(), state.tryAcquire(1))
        #expect(early == (nil, false))
        state.release(2)
        let served = [state.next(), state.next()]
        #expect(served == ["heavy", nil])
    }

    @Test("A ticket is not valid for a later waiter in the same place")
    func usedTicket() {
        var state = LimitState<Int>(capacity: 0)
        let first = state.wait(1, weight: 1, level: .medium, arrival: LineArrival(1))
        let left = state.leave(first)
        _ = state.wait(2, weight: 1, level: .medium, arrival: LineArrival(2))
        let leftAgain = state.leave(first)
        #expect((left, leftAgain) == (1, nil))
        state.raise(first, to: .high)
        state.setCapacity(1)
        let served = state.next()
        #expect(served == 2)
    }
}
