import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Costs at a simulated provider", .computing)
struct CostSimulationTests {
    /// The windows of the provider, and the distribution of costs that exhausts one of them.
    struct Load: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let perMinute: Int
        let startsPerMinute: Int
        let startsPerDay: Int
        /// The median of the costs, which have a log-normal distribution.
        let median: Double
        /// The highest cost. By default, it may start at once after a pause.
        var highest = 3600
        /// The window that is exhausted.
        let exhausted: Int
        /// Whether all keys together have these windows, and each key has a third.
        var isInTotal = false
    }

    private static let loads: ArraySlice = [
        Load(
            testDescription: "cost per minute", perMinute: 90_000, startsPerMinute: 500, startsPerDay: 1_000_000,
            median: 300, exhausted: 0),
        Load(
            testDescription: "starts per minute", perMinute: 90_000, startsPerMinute: 500, startsPerDay: 1_000_000,
            median: 60, exhausted: 1),
        Load(
            testDescription: "starts per day", perMinute: 90_000, startsPerMinute: 500, startsPerDay: 10_000,
            median: 300, exhausted: 2),
        Load(
            testDescription: "cost per minute in total", perMinute: 900_000, startsPerMinute: 5000,
            startsPerDay: 10_000_000, median: 300, exhausted: 0, isInTotal: true),
    ].suffix(isDeep ? 4 : 1)

    @Test("A provider refuses no request of known cost, and its allowance is used", arguments: loads)
    func exactEstimates(load: Load) {
        var simulation = Simulation(load, keys: keyCount, error: 0, seed: 1)
        simulation.run()
        #expect(simulation.refusedCount == 0)
        #expect(simulation.utilization >= 0.95, "\(simulation.utilization)")
    }

    @Test("A provider refuses at most one of 10,000 requests whose costs are estimated", arguments: loads)
    func estimates(load: Load) {
        var simulation = Simulation(load, keys: keyCount, error: 0.3, seed: 2)
        simulation.run()
        #expect(simulation.refusedCount <= keyCount * 20_000 / 10_000, "\(simulation.refusedCount)")
        #expect(simulation.utilization >= 0.95, "\(simulation.utilization)")
    }

    @Test("A provider refuses no request of known cost, even if the costs are above the burst")
    func highCosts() {
        let load = Load(
            testDescription: "high costs", perMinute: 90_000, startsPerMinute: 500, startsPerDay: 1_000_000,
            median: 4000, highest: 90_000, exhausted: 0)
        var simulation = Simulation(load, keys: 2, error: 0, seed: 3)
        simulation.run()
        #expect(simulation.refusedCount == 0)
        #expect(simulation.utilization >= 0.5, "\(simulation.utilization)")
    }

    /// Each key makes 20,000 requests. One million requests of 50 keys take minutes without optimisation.
    private var keyCount: Int {
        #if DEBUG
            4
        #else
            50
        #endif
    }
}

/// Keys that always have waiting requests, a limit, and a provider, in virtual time.
private struct Simulation {
    private struct Request {
        let key: Int
        let estimate: Int
        let cost: Int
    }

    private struct Answer: HeapElement {
        let time: Int
        let request: Int

        func isBefore(_ other: Answer) -> Bool { time < other.time }
    }

    private let load: CostSimulationTests.Load
    private let count: Int
    private let error: Double
    private var random: SeededGenerator
    private var state = LimitState<Int>(capacity: .max)
    private var keys: [Int] = []
    private var provider: SimulatedProvider
    private var requests: [Request] = []
    private var answers = Heap<Answer>()
    /// The planned wakes, latest first.
    private var wakes: [QueueTime.Wake] = []
    /// In milliseconds.
    private var now = 0
    private var arrivals = 0
    private var accepted: [(count: Int, cost: Int, last: Int)]
    private(set) var refusedCount = 0

    init(_ load: CostSimulationTests.Load, keys keyCount: Int, error: Double, seed: UInt64) {
        (self.load, self.count, self.error) = (load, keyCount * 20_000, error)
        random = SeededGenerator(seed: seed)
        let windows: [SimulatedProvider.Window] = [
            .init(count: load.perMinute, period: 60_000, countsStarts: false),
            .init(count: load.startsPerMinute, period: 60_000, countsStarts: true),
            .init(count: load.startsPerDay, period: 86_400_000, countsStarts: true),
        ]
        func rate(_ divisor: Int) -> OperationRate {
            [
                .perMinute(load.perMinute / divisor), .perMinute(load.startsPerMinute / divisor, of: .starts),
                .perDay(load.startsPerDay / divisor, of: .starts),
            ]
        }
        provider = SimulatedProvider(windows, accounts: load.isInTotal ? 1 : keyCount)
        accepted = Array(repeating: (0, 0, 0), count: load.isInTotal ? 1 : keyCount)
        for _ in 0..<keyCount { keys.append(state.addKey()) }
        if load.isInTotal { state.setRate(rate(1)) }
        state.setRatePerKey(rate(load.isInTotal ? 3 : 1))
    }

    /// The used part of the allowance that is exhausted, from the first start to the last one, without the burst.
    var utilization: Double {
        let (count, period, burst) = [
            (load.perMinute, 60_000.0, load.perMinute / 25), (load.startsPerMinute, 60_000, load.startsPerMinute / 25),
            (load.startsPerDay, 86_400_000, load.startsPerDay / 25),
        ][load.exhausted]
        var (used, allowed) = (0.0, 0.0)
        for account in accepted {
            used += Double((load.exhausted == 0 ? account.cost : account.count) - burst)
            allowed += Double(count) * Double(account.last) / period
        }
        return used / allowed
    }

    mutating func run() {
        for _ in 0..<2 { for key in keys.indices { request(key) } }
        serve()
        while answers.first != nil || !wakes.isEmpty {
            let wake = wakes.last.map { milliseconds($0.reading) }
            advance(to: max(now, min(wake ?? .max, answers.first?.time ?? .max)))
            while let answer = answers.first, answer.time <= now {
                answers.removeFirst()
                let request = requests[answer.request]
                state.correct(by: request.cost - request.estimate, for: keys[request.key])
                state.release(1, for: keys[request.key])
            }
            serve()
        }
    }

    /// Rounded up.
    private func milliseconds(_ duration: Duration) -> Int {
        Int((duration.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    private mutating func advance(to time: Int) {
        now = time
        state.advance(to: .milliseconds(time))
        while let wake = wakes.last, milliseconds(wake.reading) <= time { state.noteWake(wakes.removeLast()) }
    }

    /// Adds a request of a key to the line, unless the key has made all its requests.
    private mutating func request(_ key: Int) {
        if requests.count == count { return }
        let estimate = min(max(1, Int(load.median * exponential(0.6 * normal()))), load.highest)
        let cost = error == 0 ? estimate : Int(Double(estimate) * exponential(error * normal() - error * error / 2))
        requests.append(Request(key: key, estimate: estimate, cost: cost))
        wait(requests.count - 1)
    }

    private mutating func wait(_ number: Int) {
        let request = requests[number]
        arrivals += 1
        _ = state.wait(
            number, weight: 1, for: keys[request.key], cost: request.estimate, level: .medium,
            arrival: LineArrival(arrivals))
    }

    private mutating func serve() {
        while let number = state.next() { start(number) }
        if let wake = state.nextWake() { wakes.append(wake) }
        _ = state.takeFullKeys()
    }

    private mutating func start(_ number: Int) {
        let request = requests[number]
        let account = load.isInTotal ? 0 : request.key
        if let pause = provider.refusal(of: request.cost, from: account, at: now) {
            refusedCount += 1
            state.correct(by: -request.estimate, for: keys[request.key])
            state.pause(for: .milliseconds(pause), load.isInTotal ? nil : keys[request.key])
            state.release(1, for: keys[request.key])
            wait(number)
        } else {
            accepted[account].count += 1
            accepted[account].cost += request.cost
            accepted[account].last = now
            answers.insert(Answer(time: now + 500 + random.number(below: 4000), request: number))
            self.request(request.key)
        }
    }

    /// A number with approximately the standard normal distribution: the sum of twelve uniform ones.
    private mutating func normal() -> Double {
        (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.number(below: 1 << 32)) * 0x1p-32 }
    }

    private func exponential(_ exponent: Double) -> Double {
        var power = 1 + exponent / 4096
        for _ in 0..<12 { power *= power }
        return power
    }
}
