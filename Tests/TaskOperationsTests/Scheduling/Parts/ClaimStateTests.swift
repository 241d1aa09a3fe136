import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("ClaimState", .inTurns)
struct ClaimStateTests {
    /// Limits and one claim.
    private final class Line {
        var limits: [LimitState<Int>]
        var claim: ClaimState<Int>
        var arrivals = 0
        /// The waiters that the limits have served.
        var served: [Int] = []

        init(count: Int) {
            limits = Array(repeating: LimitState(capacity: 1), count: count)
            claim = ClaimState(Array(repeating: .init(), count: count))
        }

        var taken: [Int] { limits.map(\.permits.taken) }
        var claimCounts: [Int] { limits.map(\.claimCount) }

        /// A task takes the permit of a limit, if the permit is free.
        func acquire(_ index: Int) -> Bool { limits[index].tryAcquire(1) }

        /// A task waits for the permit of a limit.
        func wait(_ waiter: Int, _ index: Int, at level: PriorityLevel = .medium, arrival: Int) {
            _ = limits[index].wait(waiter, weight: 1, level: level, arrival: LineArrival(arrival))
        }

        func take(at level: PriorityLevel? = .medium) -> Bool {
            arrivals += 1
            let arrival = LineArrival(arrivals)
            return claim.take(at: level, arrival: arrival, 0, access: change)
        }

        func release(_ index: Int) {
            limits[index].release(1)
            serve(index)
        }

        func withdraw() { claim.withdraw(access: change) }

        func stopKeeping() { claim.stopKeeping(access: change) }

        private func change(
            _ index: Int, _ change: (inout LimitState<Int>) -> LimitState<Int>.Ticket?
        ) -> Bool {
            var limit = limits[index]
            let ticket = change(&limit)
            limits[index] = limit
            serve(index)
            return ticket.map(limits[index].isWaiting) ?? false
        }

        private func serve(_ index: Int) {
            while let waiter = limits[index].next() { served.append(waiter) }
        }
    }

    @Test("A claim keeps the permits that it holds, and waits in one line")
    func keeping() {
        let line = Line(count: 3)
        #expect(line.acquire(1) && line.acquire(2))
        #expect(!line.take())
        #expect(line.taken == [1, 1, 1] && line.claim.heldCount == 1 && line.claimCounts == [0, 1, 0])
        line.release(1)
        #expect(line.served == [0] && !line.take(at: nil))
        #expect(line.claim.heldCount == 2 && line.claimCounts == [0, 0, 1])
        line.release(2)
        #expect(line.take(at: nil) && line.claim.isComplete && line.claimCounts == [0, 0, 0])
        line.claim.transfer()
        #expect(line.taken == [1, 1, 1] && line.claim.heldCount == 0)
    }

    @Test("A withdrawn claim holds nothing, even if it was just served")
    func withdrawal() {
        let line = Line(count: 2)
        #expect(line.acquire(1) && !line.take())
        line.withdraw()
        #expect(line.taken == [0, 1] && line.claimCounts == [0, 0])
        #expect(!line.take())
        line.release(1)
        line.withdraw()
        #expect(line.taken == [0, 0] && line.claimCounts == [0, 0] && line.claim.place == nil)
        #expect(line.take())
        line.withdraw()
        #expect(line.taken == [0, 0])
    }

    @Test("A claim that stops keeping stays in line, and takes all permits in one step or none")
    func stopKeeping() {
        let line = Line(count: 3)
        #expect(line.acquire(1) && !line.take())
        line.stopKeeping()
        #expect(line.taken == [0, 1, 0] && line.claimCounts == [0, 1, 0])
        #expect(line.acquire(0))
        line.release(1)
        #expect(!line.take(at: nil) && line.taken == [1, 0, 0] && line.claimCounts == [1, 0, 0])
        #expect(line.acquire(2))
        line.release(0)
        #expect(!line.take(at: nil) && line.taken == [0, 0, 1] && line.claimCounts == [0, 0, 1])
        line.release(2)
        #expect(line.take(at: nil) && line.taken == [1, 1, 1])
        // The next claim keeps permits again.
        line.claim.transfer()
        for index in [0, 1] { line.release(index) }
        #expect(!line.take() && line.taken == [1, 1, 1] && line.claim.heldCount == 2)
    }

    @Test("A claim keeps no permits while it waits for a limit that tasks use")
    func tasks() {
        let line = Line(count: 3)
        #expect(line.limits[0].noteTask().isEmpty && line.limits[1].noteTask().isEmpty)
        #expect(line.acquire(1) && line.acquire(2))
        #expect(!line.take())
        #expect(line.taken == [0, 1, 1] && line.claimCounts == [0, 1, 0])
        line.release(1)
        #expect(!line.take(at: nil))
        #expect(line.taken == [0, 0, 1] && line.claimCounts == [0, 0, 1])
        line.release(2)
        #expect(line.take(at: nil))
        line.claim.transfer()
        for index in [0, 1] { line.release(index) }
        #expect(!line.take() && line.taken == [1, 1, 1] && line.claim.heldCount == 2)
        #expect(line.limits[2].noteTask() == [0] && line.limits[2].noteTask().isEmpty)
    }

    @Test("A claim of a higher level passes the entries of lower levels")
    func levels() {
        let line = Line(count: 1)
        #expect(line.acquire(0))
        line.wait(7, 0, arrival: 1000)
        #expect(!line.take(at: .low))
        #expect(line.limits[0].waitersInOrder == [7, 0])
        #expect(!line.take(at: .high))
        #expect(line.limits[0].waitersInOrder == [0, 7])
        line.release(0)
        #expect(line.served == [0] && line.take(at: nil))
    }

    @Test("A claim that has taken permits waits behind the others of its level")
    func turn() {
        let line = Line(count: 1)
        #expect(line.take())
        line.claim.transfer()
        line.arrivals = 10
        line.wait(7, 0, arrival: 10)
        #expect(!line.take())
        line.release(0)
        #expect(line.served == [7] && !line.take())
    }

    @Test("A claim keeps its arrival in the lines of later limits")
    func arrival() {
        let line = Line(count: 2)
        #expect(line.acquire(0) && line.acquire(1))
        line.arrivals = 10
        #expect(!line.take())
        line.wait(7, 1, arrival: 20)
        line.arrivals = 30
        line.release(0)
        #expect(!line.take() && line.limits[1].waitersInOrder == [0, 7])
    }

    @Test("A claim takes its weight, for its key, or waits if either is lacking")
    func weightAndKey() {
        var limit = LimitState<Int>(capacity: 5, perKey: 3)
        let (key, other) = (limit.addKey(), limit.addKey())
        var served: [Int] = []
        func change(_ change: (inout LimitState<Int>) -> LimitState<Int>.Ticket?) -> Bool {
            let ticket = change(&limit)
            serve()
            return ticket.map(limit.isWaiting) ?? false
        }
        func serve() {
            while let waiter = limit.next() { served.append(waiter) }
        }
        var claims = [(2, key), (2, key), (1, key), (3, other)].map { ClaimState<Int>([.init(weight: $0, key: $1)]) }
        let taken = claims.indices.map { index in
            claims[index].take(at: .medium, arrival: LineArrival(index), index) { change($1) }
        }
        #expect(taken == [true, false, false, true])
        #expect(limit.permits.taken == 5 && limit.takenCount(of: other) == 3)
        limit.release(2, for: key)
        serve()
        #expect(served == [1])
        let isTaken = claims[1].take(arrival: LineArrival(9), 1) { change($1) }
        #expect(isTaken && limit.takenCount(of: key) == 2)
        limit.release(3, for: other)
        serve()
        #expect(served == [1, 2])
    }

    @Test("A weight above the capacity is taken alone")
    func alone() {
        var limit = LimitState<Int>(capacity: 2)
        var claim = ClaimState<Int>([.init(weight: 3)])
        let taken = claim.take(at: .medium, arrival: LineArrival(1), 0) { $1(&limit) != nil }
        #expect(taken && limit.permits.taken == 3)
    }

    @Test("Random claims lose no permit, and end", arguments: 0..<20)
    func randomUse(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var limits = (0..<3).map { LimitState<Int>(capacity: $0 + 1) }
        var claims = (0..<8).map { _ in ClaimState<Int>((0..<3).map { _ in .init(weight: random.number(below: 2) + 1) })
        }
        let weights = claims.map(\.weights)
        var (owned, arrivals, transfers) = ([Int](), 0, 0)
        func change(_ index: Int, _ change: (inout LimitState<Int>) -> LimitState<Int>.Ticket?) -> Bool {
            let ticket = change(&limits[index])
            while limits[index].next() != nil {}
            return ticket.map(limits[index].isWaiting) ?? false
        }
        for _ in 0..<3000 {
            let number = random.number(below: claims.count)
            switch random.number(below: 20) {
            case 0..<6 where !owned.isEmpty:
                let owner = owned.remove(at: random.number(below: owned.count))
                for index in limits.indices {
                    limits[index].release(weights[owner][index])
                    while limits[index].next() != nil {}
                }
            case 6: claims[number].withdraw(access: change)
            case 7: claims[number].stopKeeping(access: change)
            default:
                arrivals += 1
                let level: PriorityLevel = random.happens(percent: 20) ? .high : .medium
                let arrival = LineArrival(arrivals)
                let isTaken =
                    claims[number].isComplete
                    || claims[number].take(at: level, arrival: arrival, number, access: change)
                if !isTaken { continue }
                claims[number].transfer()
                owned.append(number)
                transfers += 1
            }
            for (index, limit) in limits.enumerated() {
                let held = claims.indices.filter { claims[$0].holds(index, of: limit) } + owned
                #expect(limit.permits.taken == held.reduce(0) { $0 + weights[$1][index] })
            }
        }
        #expect(transfers > 100)
    }
}

extension ClaimState {
    /// Whether the claim holds the permits of a limit.
    func holds(_ index: Int, of limit: Limit) -> Bool {
        index < heldCount || place.map { $0.index == index && !limit.isWaiting($0.ticket) } ?? false
    }
}
