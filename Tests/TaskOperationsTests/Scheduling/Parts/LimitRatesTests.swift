import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("LimitState with rates", .inTurns)
struct LimitRatesTests {
    /// A limit whose clock only advances to the times for which the limit asks, or to times between these.
    private struct World {
        var state: LimitState<Int>
        var keys: [Int?] = [nil]
        var now = Duration.zero
        /// The planned wakes, latest first.
        var wakes: [QueueTime.Wake] = []
        var tickets: [Int: LimitState<Int>.Ticket] = [:]
        var weights: [Int: (key: Int?, weight: Int)] = [:]
        var held: [(key: Int?, weight: Int)] = []
        /// The key and the time of each service.
        var services: [(key: Int?, time: Duration)] = []

        init(capacity: Int, perKey: Int, keyCount: Int, rate: OperationRate?, ratePerKey: OperationRate?) {
            state = LimitState(capacity: capacity, perKey: perKey)
            for _ in 0..<keyCount { keys.append(state.addKey()) }
            state.setRate(rate)
            state.setRatePerKey(ratePerKey)
        }

        mutating func advance(to time: Duration) {
            now = time
            state.advance(to: time)
            while let wake = wakes.last, wake.reading <= time { state.noteWake(wakes.removeLast()) }
        }

        mutating func settle() {
            while let number = state.next() {
                let (key, weight) = weights[number]!
                tickets[number] = nil
                held.append((key, weight))
                services.append((key, now))
            }
            if let wake = state.nextWake() { wakes.append(wake) }
        }

        /// The number of services in a row, beginning with each service, must not exceed the rate.
        func exceeds(_ rate: OperationRate?, key: Int?) -> Bool {
            guard let rate else { return false }
            let times = services.filter { key == nil || $0.key == key }.map(\.time)
            for start in times.indices {
                for end in start..<times.count {
                    let most = rate.burst + Int((times[end] - times[start]) / rate.interval)
                    if end - start + 1 > most { return true }
                }
            }
            return false
        }
    }

    @Test("The used tokens of a key stay used if its burst is lowered and raised")
    func toggledBurst() {
        func rate(_ burst: Int) -> OperationRate { .one(per: .seconds(1), burst: burst) }
        var state = LimitState<Int>(capacity: 1000)
        let key = state.addKey()
        state.setRatePerKey(rate(5))
        func take() -> Int { (0..<20).count { _ in state.tryAcquire(1, for: key) } }
        #expect(take() == 5)
        state.setRatePerKey(rate(2))
        state.advance(to: .seconds(2))
        #expect(take() == 2)
        // The bucket of two tokens is full at second 4, and the seven tokens are replaced at second 7.
        state.advance(to: .seconds(5))
        #expect(state.takeFullKeys().isEmpty && state.hasBucket(key))
        state.setRatePerKey(rate(5))
        #expect(take() == 3)
        state.advance(to: .seconds(20))
        #expect(state.takeFullKeys() == [key] && !state.hasBucket(key))
    }

    @Test("No rate is exceeded, and every entry is served at the times for which the limit asks", arguments: 0..<60)
    func randomUse(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rates: [OperationRate?] = [nil, .one(per: .seconds(3)), .one(per: .seconds(2), burst: 3)]
        let (rate, ratePerKey) = (rates[Int(seed % 3)], rates[Int(seed / 3 % 3)])
        var world = World(capacity: 4, perKey: 2, keyCount: 3, rate: rate, ratePerKey: ratePerKey)
        for number in 0..<200 {
            switch random.number(below: 10) {
            case 0..<4:
                let key = world.keys[random.number(below: world.keys.count)]
                let weight = random.number(below: 2) + 1
                world.weights[number] = (key, weight)
                let level = random.level()
                if world.state.tryAcquire(weight, for: key, level: level) {
                    world.held.append((key, weight))
                    world.services.append((key, world.now))
                } else {
                    world.tickets[number] = world.state.wait(
                        number, weight: weight, for: key, level: level, arrival: LineArrival(number))
                }
            case 4..<7 where !world.held.isEmpty:
                let (key, weight) = world.held.remove(at: random.number(below: world.held.count))
                world.state.release(weight, for: key)
            case 7:
                if let (number, ticket) = world.tickets.sorted(by: { $0.key < $1.key }).randomElement(using: &random) {
                    if world.state.leave(ticket) != nil { world.tickets[number] = nil }
                }
            case 8: world.advance(to: world.now + .milliseconds(random.number(below: 4000)))
            default: if let wake = world.wakes.last { world.advance(to: max(world.now, wake.reading)) }
            }
            world.settle()
        }
        // Every permit is released. Then only tokens are missing.
        var steps = 0
        while !world.tickets.isEmpty, steps < 1000 {
            steps += 1
            for (key, weight) in world.held { world.state.release(weight, for: key) }
            world.held = []
            world.settle()
            if world.held.isEmpty, let wake = world.wakes.last { world.advance(to: max(world.now, wake.reading)) }
            world.settle()
        }
        #expect(world.tickets.isEmpty && world.services.count > 20)
        #expect(!world.exceeds(rate, key: nil))
        for key in world.keys.compactMap(\.self) { #expect(!world.exceeds(ratePerKey, key: key)) }
    }

    @Test("An entry that lacks a token of its key delays no other key")
    func otherKeys() {
        var world = World(capacity: 9, perKey: 9, keyCount: 2, rate: nil, ratePerKey: .one(per: .seconds(1)))
        for number in 0..<4 {
            world.weights[number] = (world.keys[number / 3 + 1], 1)
            _ = world.state.wait(
                number, weight: 1, for: world.keys[number / 3 + 1], level: .medium, arrival: LineArrival(number))
        }
        world.settle()
        #expect(world.services.map(\.key) == [world.keys[1], world.keys[2]])
        #expect(world.wakes == [QueueTime.Wake(reading: .seconds(1), level: .high)])
    }

    @Test("A token of unused permits is put back")
    func unused() {
        var state = LimitState<Int>(capacity: 2)
        state.setRate(.one(per: .seconds(1)))
        let first = state.tryAcquire(1)
        let second = state.tryAcquire(1)
        state.release(1, isUnused: true)
        let third = state.tryAcquire(1)
        #expect([first, second, third] == [true, false, true])
    }

    @Test("A key has a bucket until its tokens are free again")
    func fullBuckets() {
        var state = LimitState<Int>(capacity: 2)
        let key = state.addKey()
        state.setRatePerKey(.one(per: .seconds(2), burst: 2))
        for _ in 0..<2 {
            let isTaken = state.tryAcquire(1, for: key)
            state.release(1, for: key)
            #expect(isTaken && state.hasBucket(key))
        }
        state.advance(to: .seconds(3))
        #expect(state.hasBucket(key) && state.takeFullKeys().isEmpty)
        state.advance(to: .seconds(4))
        let full = state.takeFullKeys()
        #expect(!state.hasBucket(key) && full == [key])
    }

    @Test("A changed rate applies at once, and used tokens remain used")
    func changes() {
        var state = LimitState<Int>(capacity: 9)
        let key = state.addKey()
        state.setRatePerKey(.one(per: .seconds(10)))
        let isTaken = state.tryAcquire(1, for: key)
        _ = state.wait(1, weight: 1, for: key, level: .medium, arrival: LineArrival(1))
        let early = state.next()
        state.setRatePerKey(.one(per: .seconds(1)))
        let afterChange = state.next()
        state.advance(to: .seconds(1))
        let afterSecond = state.next()
        #expect(isTaken && early == nil && afterChange == nil && afterSecond == 1)
        _ = state.wait(2, weight: 1, for: key, level: .medium, arrival: LineArrival(2))
        state.setRatePerKey(nil)
        let withoutRate = state.next()
        #expect(withoutRate == 2 && Set(state.takeFullKeys()) == [key] && !state.isTimed)
    }
}
