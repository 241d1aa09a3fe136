import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("The goodput of an overloaded queue", .endsInTime)
struct GoodputTests {
    enum Limit: CaseIterable {
        case none, startingWithin
        /// The same, and at most 90 operations wait in addition to those for which permits are free.
        case startingWithinBounded
    }

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
            .init(
                maxConcurrentOperationCount: width,
                maxQueuedOperationCount: limit == .startingWithinBounded ? 90 : .max))
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
                if state.admitOrReject(arrivals.count) {
                    let slot = state.nextSlot
                    state.insert(arrivals.count, Newcomer(isReady: true), at: slot)
                    slots.append(slot)
                } else {
                    slots.append(nil)
                    refusals += 1
                }
                arrivals.append(now)
            }
            while let level = state.peekedLevel, let slot = state.nextStart(at: level) {
                let number = state.rows[slot].element
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
        "At three times the load, a timeout until the start keeps the goodput, and a bound refuses at once",
        arguments: 1...(isDeep ? 10 : 1) as ClosedRange<UInt64>)
    func overload(seed: UInt64) {
        let unlimited = Self.simulate(.none, load: 3, seed: seed)
        let late = Self.simulate(.startingWithin, load: 3, seed: seed)
        let bounded = Self.simulate(.startingWithinBounded, load: 3, seed: seed)
        #expect(unlimited.goodput < 0.15, "Each operation starts, but too late: \(unlimited)")
        #expect(late.goodput > 0.97, "\(late)")
        #expect(bounded.goodput > 0.97, "\(bounded)")
        #expect(late.refusalTime > 0.99 && bounded.refusalTime < 0.005, "\(late) \(bounded)")
        #expect(bounded.longestLine == 90 && late.longestLine > 300, "\(late) \(bounded)")
    }

    @Test("Without overload, nothing is refused", arguments: [0.3, 0.9])
    func noOverload(load: Double) {
        let bounded = Self.simulate(.startingWithinBounded, load: load, seed: 1)
        #expect(bounded.goodput > 0.95 * load && bounded.longestLine < 60)
        #expect(bounded.refusalTime == 0)
    }
}
