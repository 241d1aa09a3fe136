import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Tokens of costs", .inTurns)
struct TokenCostTests {
    @Test("One billion units of cost, each corrected up and down, take exactly their time")
    func drift() {
        let rate = OperationRate.perMinute(90_000, burst: 7)
        var (bucket, time, sum) = (TokenBucket(rate), Duration.seconds(60), 0)
        var random = SeededGenerator(seed: 1)
        let start = time
        while sum < 1_000_000_000 {
            let (estimate, cost) = (random.number(below: 20_000), random.number(below: 20_000))
            time = max(time, bucket.nextStart(cost: 0))
            bucket.take(estimate, at: time)
            bucket.correct(by: cost - estimate, at: time)
            sum += cost
        }
        #expect(bucket.nextStart(cost: 7) == start + rate.interval * sum)
        bucket.correct(by: 1_000_000_000, at: time)
        bucket.correct(by: -1_000_000_000, at: time)
        #expect(bucket.nextStart(cost: 7) == start + rate.interval * sum)
    }

    @Test(
        "In any minute, starts cost at most the count of the minute",
        arguments: [1, 2, 7, 60, 90_000, 1_000_000_000_000])
    func anyMinute(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        for burst in Set([1, max(1, count / 25), max(1, count / 2), count]) {
            let rate = OperationRate.perMinute(count, burst: burst)
            #expect(rate.burst == burst && rate == [rate])
            var (bucket, time) = (TokenBucket(rate), Duration.zero)
            var (starts, isExceeded) = ([(time: Duration, cost: Int)](), false)
            for _ in 0..<100 {
                let highest = random.happens(percent: 10) ? count : max(1, min(burst, count / 9))
                let cost = random.number(below: highest) + 1
                time = max(time, bucket.nextStart(cost: cost))
                if random.happens(percent: 10) { time += .seconds(random.number(below: 100)) }
                bucket.take(cost, at: time)
                starts.append((time, cost))
                let sum = starts.reduce(0) { time - $1.time < .seconds(60) ? $0 + $1.cost : $0 }
                if sum > count { isExceeded = true }
            }
            #expect(!isExceeded, "burst \(burst)")
        }
    }

    @Test("An urgent entry of a lower cost is served before the alarm of a higher cost")
    func lowerCost() {
        var state = LimitState<Int>(capacity: 9)
        let key = state.addKey()
        state.setRatePerKey(.one(per: .seconds(1), burst: 5))
        let isTaken = state.tryAcquire(1, for: key, cost: 5)
        _ = state.wait(1, weight: 1, for: key, cost: 5, level: .medium, arrival: LineArrival(1))
        let early = state.next()
        let wake = state.nextWake()?.reading
        _ = state.wait(2, weight: 1, for: key, cost: 2, level: .high, arrival: LineArrival(2))
        let blocked = state.next()
        let earlierWake = state.nextWake()?.reading
        state.advance(to: .seconds(2))
        let served = state.next()
        #expect(isTaken && early == nil && wake == .seconds(5))
        #expect(blocked == nil && earlierWake == .seconds(2) && served == 2)
    }

    @Test("Starts that were served at once all put their unused tokens back, and no more")
    func unusedAtOnce() {
        var state = LimitState<Int>(capacity: 9)
        state.setRate(.one(per: .seconds(1), burst: 9))
        let areTaken = [3, 4, 2].map { state.tryAcquire(1, cost: $0) }
        for cost in [4, 2] { state.release(1, cost: cost, isUnused: true) }
        let again = state.tryAcquire(1, cost: 6)
        let more = state.tryAcquire(1, cost: 1)
        #expect(areTaken == [true, true, true] && again && !more)
    }

    @Test("A debt remains when the rate is changed or removed")
    func changedRate() {
        var state = LimitState<Int>(capacity: 9)
        state.setRate(.one(per: .seconds(1), burst: 2))
        let isTaken = state.tryAcquire(1)
        state.correct(by: 5, for: nil)
        state.setRate(.one(per: .seconds(2), burst: 3))
        // Three tokens are used, and four more are missing.
        state.advance(to: .seconds(7))
        let early = state.tryAcquire(1)
        state.setRate(nil)
        state.setRate(.one(per: .seconds(2), burst: 3))
        state.advance(to: .seconds(10))
        let late = state.tryAcquire(1)
        #expect(isTaken && !early && late)
    }

    @Test("Operations without a rate keep no tokens in memory")
    func removedRate() {
        var state = LimitState<Int>(capacity: 9)
        state.setRate(.perSecond(1))
        state.setRate(nil)
        for _ in 0..<3 {
            state.noteOldTime()
            _ = state.tryAcquire(1)
        }
        state.setRate(.perSecond(1))
        state.advance(to: .zero)
        let isTaken = state.tryAcquire(1)
        #expect(isTaken)
    }
}
