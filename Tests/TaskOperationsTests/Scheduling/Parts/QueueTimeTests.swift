import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Time in a queue", .inTurns)
struct QueueTimeTests {
    @Test("A token bucket counts as one whose tokens are counted one by one", arguments: 1...4)
    func tokens(burst: Int) {
        var random = SeededGenerator(seed: UInt64(burst))
        var bucket = TokenBucket(.one(per: .seconds(10), burst: burst))
        var (time, level) = (0, burst * 10)
        for _ in 0..<2000 {
            let passed = random.number(below: random.happens(percent: 5) ? 200 : 12)
            time += passed
            level = min(level + passed, burst * 10)
            let (count, one) = (
                bucket.count(at: .seconds(time), atMost: 100), bucket.count(at: .seconds(time), atMost: 1)
            )
            #expect(count == level / 10 && one == min(1, count))
            #expect((bucket.nextStart <= .seconds(time)) == (level >= 10))
            if level < 10 { #expect(bucket.nextStart == .seconds(time + 10 - level)) }
            if level >= 10, random.happens(percent: 70) {
                bucket.take(at: .seconds(time))
                level -= 10
                if random.happens(percent: 20) {
                    bucket.giveBack(at: .seconds(time))
                    level += 10
                }
            }
        }
    }

    @Test("A clock that goes back takes no time away, and the queue is woken by it anew")
    func clocksThatJump() {
        var time = QueueTime()
        time.advance(to: .seconds(5))
        let wakes = [7, 7, 8, 6].map { time.wake(at: .seconds($0), .medium)?.reading }
        #expect(wakes == [.seconds(7), nil, nil, .seconds(6)], "only an earlier one is not covered")
        time.advance(to: .seconds(-100))
        let wake = time.wake(at: .seconds(7), .medium)?.reading
        #expect(time.now == .seconds(5) && wake == .seconds(-98), "two seconds after what the clock shows")
        time.advance(to: .seconds(-99))
        #expect(time.now == .seconds(6))
        time.advance(to: .seconds(-101), mayBeOld: true)
        time.advance(to: .seconds(-99))
        #expect(time.now == .seconds(6), "a reading that comes late is no clock that goes back")
        time.advance(to: .seconds(1_000_000))
        #expect(time.now > .seconds(1_000_000))
        #expect(time.wakes.map(\.reading) == [.seconds(7), .seconds(6), .seconds(-98)])
    }

    @Test("A wake of a lower level, or a later one, is not sufficient")
    func levels() {
        var time = QueueTime()
        let plans: [(Int, PriorityLevel)] = [(7, .medium), (7, .low), (7, .high), (8, .high), (6, .low), (6, .medium)]
        let wakes = plans.map { time.wake(at: .seconds($0), $1) }
        #expect(wakes.map { $0 != nil } == [true, false, true, false, true, true])
        time.noteWake(wakes[2]!)
        #expect(time.wake(at: .seconds(7), .high) != nil)
    }

    @Test("A user that is woken for each near time plans one wake for a far time")
    func farAndNear() {
        var time = QueueTime()
        var (planned, pending) = ([Duration](), [QueueTime.Wake]())
        for second in 1...1000 {
            for alarm in [(second / 60 + 1) * 60, second] {
                guard let wake = time.wake(at: .seconds(alarm), .medium) else { continue }
                planned.append(wake.reading)
                pending.append(wake)
            }
            time.advance(to: .seconds(second))
            for wake in pending where wake.reading <= .seconds(second) { time.noteWake(wake) }
            pending.removeAll { $0.reading <= .seconds(second) }
            #expect(time.wakes == pending && pending.count <= 1)
        }
        #expect(Set(planned).count == planned.count, "a wake was planned twice")
    }

    @Test("A queue is woken at the level of its next operation, and plans only the last wake of an event")
    func wakeLevels() {
        var state = SchedulerState<Int, Int>(
            .init(maxConcurrentOperationCount: 2, rate: .one(per: .seconds(10))))
        func nextWake() -> QueueTime.Wake? {
            state.computeEffects()
            return state.takeEffects().wake
        }
        _ = state.add(0, isReady: true)
        _ = state.nextStart(at: .medium)
        _ = state.add(1, level: .low, isReady: true)
        #expect(nextWake() == QueueTime.Wake(reading: .seconds(10), level: .low))
        _ = state.add(2, level: .medium, isReady: true)
        state.computeEffects()
        let high = state.add(3, level: .high, isReady: true)!
        #expect(nextWake() == QueueTime.Wake(reading: .seconds(10), level: .high))
        #expect(state.pace.time.wakes.map(\.level) == [.low, .high])
        state.remove(high)
        #expect(nextWake() == nil, "a wake of a higher level is sufficient")
    }

    @Test("Only a queue that nothing but its rate holds up is woken")
    func waking() {
        var state = SchedulerState<Int, Int>(
            .init(maxConcurrentOperationCount: 2, rate: .one(per: .seconds(10))))
        func nextWake() -> Duration? {
            state.computeEffects()
            return state.takeEffects().wake?.reading
        }
        for number in 0..<3 { _ = state.add(number, isReady: true) }
        #expect(nextWake() == nil, "one may start now")
        let (first, second) = (state.nextStart(at: .medium), state.nextStart(at: .medium))
        #expect(first != nil && second == nil)
        #expect(nextWake() == .seconds(10), "and the next one after that")
        #expect(nextWake() == nil, "that is known")
        state.noteWake(QueueTime.Wake(reading: .seconds(10), level: .medium))
        state.setSuspended(true)
        #expect(nextWake() == nil)
        state.setSuspended(false)
        #expect(nextWake() == .seconds(10))
        state.advance(to: .seconds(10))
        state.noteWake(QueueTime.Wake(reading: .seconds(10), level: .medium))
        #expect(state.peekedLevel == .medium)
        state.giveBackStart()
        _ = state.nextStart(at: .medium)
        #expect(state.peekedLevel == nil, "the burst is 1, also if one was given back")
    }
}
