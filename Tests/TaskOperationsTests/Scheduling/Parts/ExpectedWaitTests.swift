import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Load shedding: decisions", .timeLimit(.minutes(120)))
struct ExpectedWaitTests {
    private enum Event: CaseIterable {
        case lowIsReady, highIsReady, startHigh, startLow, leave, second, hour, resume
    }

    /// The state after some events, and the ready operations by the simplest rules.
    private struct Case {
        var estimate = ExpectedWait()
        var ready: [(slot: Int, level: PriorityLevel)] = []
        var now = Duration.zero
        var slots = 0

        mutating func apply(_ event: Event) {
            switch event {
            case .lowIsReady: becomeReady(.low)
            case .highIsReady: becomeReady(.high)
            case .startHigh: start(.high)
            case .startLow: start(.low)
            case .leave: if !ready.isEmpty { estimate.left(ready.removeLast().slot) }
            case .second: now += .seconds(1)
            case .hour: now += .seconds(3600)
            case .resume: estimate.resumed(at: now)
            }
        }

        private mutating func becomeReady(_ level: PriorityLevel) {
            slots += 1
            ready.append((slots, level))
            estimate.becameReady(slots, level, at: now)
        }

        private mutating func start(_ level: PriorityLevel) {
            guard let index = ready.firstIndex(where: { $0.level == level }) else { return }
            estimate.started(ready.remove(at: index).slot, at: now)
        }
    }

    @Test("After every sequence of events, the wait is finite, grows with the line, and is zero with a free permit")
    func everySequence() {
        explore(Case(), depth: isDeep ? 6 : 4)
    }

    private func explore(_ state: Case, depth: Int) {
        #expect(state.estimate.count == state.ready.count)
        for level in [PriorityLevel.low, .high] {
            let before = state.ready.count { $0.level >= level }
            let wait = state.estimate.wait(at: level, freePermits: 0, state.now)
            #expect(wait >= .zero && wait <= .seconds(40_000))
            #expect(state.estimate.wait(at: level, freePermits: 1 + before, state.now) == .zero)
            #expect(state.estimate.wait(at: level, freePermits: .max, state.now) == .zero)
            var longer = state
            longer.apply(level == .low ? .lowIsReady : .highIsReady)
            #expect(longer.estimate.wait(at: level, freePermits: 0, state.now) >= (state.ready.isEmpty ? .zero : wait))
        }
        if depth == 0 { return }
        for event in Event.allCases {
            var next = state
            next.apply(event)
            explore(next, depth: depth - 1)
        }
    }

    @Test("The wait is the time for each place, multiplied by the place")
    func places() {
        var estimate = ExpectedWait()
        for slot in 1...4 { estimate.becameReady(slot, .medium, at: .zero) }
        for slot in 1...4 { estimate.started(slot, at: .seconds(slot)) }
        for slot in 5...7 { estimate.becameReady(slot, .medium, at: .seconds(4)) }
        let wait = estimate.wait(at: .medium, freePermits: 0, .seconds(4))
        #expect(abs(wait / .seconds(1) - 4) < 1e-6)
        #expect(abs(estimate.wait(at: .medium, freePermits: 2, .seconds(4)) / .seconds(1) - 2) < 1e-6)
        #expect(estimate.wait(at: .high, freePermits: 0, .seconds(4)) == .zero, "No urgent operation has waited.")
        #expect(estimate.wait(at: .medium, freePermits: 0, .seconds(9)) == .seconds(5), "No operation starts.")
    }

    @Test("A suspension counts as no wait, and an old estimate ends")
    func suspension() {
        var estimate = ExpectedWait()
        estimate.becameReady(1, .medium, at: .zero)
        estimate.resumed(at: .seconds(1000))
        #expect(estimate.wait(at: .medium, freePermits: 0, .seconds(1000)) == .zero)
        estimate.started(1, at: .seconds(1000))
        #expect(estimate.wait(at: .medium, freePermits: 0, .seconds(1000)) == .zero)
        estimate.becameReady(2, .medium, at: .seconds(1000))
        estimate.started(2, at: .seconds(1001))
        #expect(estimate.wait(at: .medium, freePermits: 0, .seconds(1002)) > .milliseconds(900))
        #expect(estimate.wait(at: .medium, freePermits: 0, .seconds(1020)) == .zero)
    }

    @Test("Urgent operations that overtake others do not lengthen their own expected wait")
    func levels() {
        var estimate = ExpectedWait()
        estimate.becameReady(0, .low, at: .zero)
        for slot in 1...20 {
            estimate.becameReady(slot, .high, at: .seconds(slot))
            estimate.started(slot, at: .seconds(slot) + .milliseconds(10))
        }
        estimate.started(0, at: .seconds(21))
        #expect(estimate.wait(at: .high, freePermits: 0, .seconds(21)) < .milliseconds(20))
        #expect(estimate.wait(at: .low, freePermits: 0, .seconds(21)) > .seconds(20))
    }
}

@Suite("Load shedding: goodput of an overloaded queue", .timeLimit(.minutes(120)))
struct GoodputTests {
    enum Limit: CaseIterable { case none, startingWithin, shedding }

    struct Outcome {
        /// The starts within the patience of the callers, as a fraction of those that the queue can perform.
        var goodput = 0.0
        /// The mean time after which a caller learned that its operation does not start.
        var refusalTime = 0.0
        var longestLine = 0
    }

    /// Simulates a queue of width 10 with bodies of about 100 ms, for 15 seconds. Callers lose their patience after a
    /// second.
    static func simulate(_ limit: Limit, load: Double, seed: UInt64) -> Outcome {
        let (width, bodyTime, patience, end) = (10, 0.1, 1.0, isDeep ? 300.0 : 15)
        var random = SeededGenerator(seed: seed)
        var state = SchedulerState<Int, Int>(
            .init(maxConcurrentOperationCount: width, shedsLoad: limit == .shedding))
        var arrivals: [Double] = []
        /// The slots of operations, by number; nil after the start or the refusal.
        var slots: [Int?] = []
        var executing: [(end: Double, slot: Int)] = []
        var (nextArrival, firstUnexpired, good, refusals, refusalTime) = (0.0, 0, 0, 0, 0.0)
        var outcome = Outcome()
        func unit() -> Double { Double(random.next() >> 11) * 0x1p-53 }
        while true {
            let firstEnd = executing.map(\.end).min() ?? .infinity
            let expiry =
                limit == .none || firstUnexpired == arrivals.count ? .infinity : arrivals[firstUnexpired] + patience
            let now = min(nextArrival, firstEnd, expiry)
            if now > end { break }
            state.advance(to: .seconds(now))
            if now == firstEnd {
                _ = state.end(executing.remove(at: executing.firstIndex { $0.end == firstEnd }!).slot)
            } else if now == expiry {
                if let slot = slots[firstUnexpired] {
                    _ = state.end(slot)
                    slots[firstUnexpired] = nil
                    (refusals, refusalTime) = (refusals + 1, refusalTime + patience)
                }
                firstUnexpired += 1
            } else {
                nextArrival = now + 2 * unit() * bodyTime / (load * Double(width))
                let newcomer = Newcomer(isReady: true)
                let wait = state.excessiveWait(of: newcomer, allowance: .seconds(patience))
                let slot = state.nextSlot
                state.insert(arrivals.count, newcomer, at: slot)
                arrivals.append(now)
                slots.append(slot)
                if let wait {
                    state.dropNew(slot, .overloaded(expectedWait: wait))
                    _ = state.end(slot)
                    slots[slots.count - 1] = nil
                    refusals += 1
                }
            }
            while let level = state.peekedLevel, let slot = state.nextStart(at: level) {
                let number = state.records[slot].element
                slots[number] = nil
                if now - arrivals[number] <= patience { good += 1 }
                executing.append((now + bodyTime * (0.5 + unit()), slot))
            }
            outcome.longestLine = max(outcome.longestLine, state.queuedCount)
            _ = state.takeEffects()
        }
        outcome.goodput = Double(good) * bodyTime / (Double(width) * end)
        outcome.refusalTime = refusals == 0 ? 0 : refusalTime / Double(refusals)
        return outcome
    }

    @Test(
        "At three times the load, shedding keeps the goodput and refuses at once",
        arguments: 1...(isDeep ? 10 : 1) as ClosedRange<UInt64>)
    func overload(seed: UInt64) {
        let unlimited = Self.simulate(.none, load: 3, seed: seed)
        let late = Self.simulate(.startingWithin, load: 3, seed: seed)
        let shedding = Self.simulate(.shedding, load: 3, seed: seed)
        #expect(unlimited.goodput < 0.15, "Each operation starts, but too late: \(unlimited)")
        #expect(late.goodput > 0.97, "\(late)")
        #expect(shedding.goodput > 0.97, "\(shedding)")
        #expect(late.refusalTime > 0.99 && shedding.refusalTime < 0.1 * late.refusalTime, "\(late) \(shedding)")
        #expect(shedding.longestLine < late.longestLine / 2, "\(late) \(shedding)")
    }

    @Test("Without overload, nothing is refused", arguments: [0.3, 0.9])
    func noOverload(load: Double) {
        let shedding = Self.simulate(.shedding, load: load, seed: 1)
        #expect(shedding.goodput > 0.95 * load && shedding.longestLine < 60)
        #expect(shedding.refusalTime == 0)
    }
}
