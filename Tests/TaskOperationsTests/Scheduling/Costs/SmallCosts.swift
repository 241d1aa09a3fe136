@testable import TaskOperations

/// A limit with rates as one value to explore. Requests wait for it, start, correct their costs, and end. Time passes in
/// whole seconds, and each rate adds one token per second.
struct SmallCosts {
    struct Request: Sendable {
        var key: Int?
        let cost: Int
        /// The cost that becomes known while the request executes; nil if it is never corrected.
        var actual: Int?
    }

    struct Plan: Sendable {
        var total: OperationRate?
        var perKey: OperationRate?
        let requests: [Request]
        /// Whether a request that has just started may give its permits back unused.
        var mayWithdraw = false
        /// A pause of two seconds, in total or of a key. It may begin at any time.
        var pause: Pause?
        /// The last second at which time may pass although nothing asks to be woken.
        var seconds = 3
    }

    enum Pause: Hashable, Sendable {
        case inTotal, ofKey(Int)
    }

    enum Phase: Hashable, Sendable {
        case made, waiting
        case executing(isSettled: Bool)
        case finished
    }

    /// A change of the tokens.
    struct Entry: Hashable, Sendable {
        let time: Int
        let request: Int
        let amount: Int
        var isStart = false
    }

    let plan: Plan
    private var state = LimitState<Int>(capacity: .max)
    private var phases: [Phase]
    private var time = 0
    /// The planned wakes, latest first.
    private var wakes: [QueueTime.Wake] = []
    private var entries: [Entry] = []
    private var arrivalTimes: [Int] = []
    private var hasPaused = false
    private var pauseEnd = 0
    /// The time of the last starts, and how many of them have not put their tokens back.
    private var lastTakes = (time: 0, count: 0)
    /// The same tokens, counted one by one: in total, and of each key.
    private var total: CountedTokens
    private var ofKeys: [CountedTokens]
    private(set) var violations: [String] = []

    init(_ plan: Plan) {
        self.plan = plan
        phases = plan.requests.map { _ in .made }
        total = CountedTokens(plan.total)
        ofKeys = []
        for _ in 0..<(plan.requests.compactMap(\.key).max() ?? -1) + 1 {
            _ = state.addKey()
            ofKeys.append(CountedTokens(plan.perKey))
        }
        if let rate = plan.total { state.setRate(rate) }
        if let rate = plan.perKey { state.setRatePerKey(rate) }
    }
}

/// The tokens of a rate that adds one token per second, counted one by one.
private struct CountedTokens: Hashable {
    private struct Window: Hashable {
        let burst: Int
        let allowance: Int
        let countsStarts: Bool
        var level: Int
        /// The seconds for which the bucket has been full, as far as they count.
        var saved: Int

        init(_ window: OperationRate.Window) {
            (burst, allowance) = (window.burst, window.allowance)
            countsStarts = window.unit == .starts
            (level, saved) = (burst, allowance - burst)
        }

        func tokens(of cost: Int) -> Int { countsStarts ? 1 : cost }

        mutating func passSecond() {
            if level < burst { level += 1 } else { saved = min(saved + 1, allowance - burst) }
        }

        mutating func take(_ count: Int) { if count > 0 { (level, saved) = (level - count, 0) } }

        mutating func giveBack(_ count: Int) { level = min(burst, level + count) }
    }

    private var windows: [Window]

    init(_ rate: OperationRate?) { windows = rate.map { ([$0.first] + $0.others).map(Window.init) } ?? [] }

    func admits(_ cost: Int) -> Bool {
        windows.allSatisfy { $0.level + $0.saved >= min($0.tokens(of: cost), $0.allowance) }
    }

    private mutating func change(_ change: (inout Window) -> Void) {
        for index in windows.indices { change(&windows[index]) }
    }

    mutating func passSecond() { change { $0.passSecond() } }

    mutating func take(_ cost: Int) { change { $0.take($0.tokens(of: cost)) } }

    mutating func correct(by difference: Int) {
        change { window in
            if window.countsStarts { return }
            if difference > 0 { window.take(difference) } else { window.giveBack(-difference) }
        }
    }

    mutating func giveBack(_ cost: Int, takenBefore seconds: Int) {
        change { if seconds < $0.tokens(of: cost) { $0.giveBack($0.tokens(of: cost)) } }
    }
}

extension SmallCosts: Explorable {
    enum Event: Sendable {
        case arrive(Int)
        case passSecond
        case wake
        case settle(Int)
        case finish(Int)
        /// The permits of a request are given back unused, and it waits again.
        case withdraw(Int)
        case pause
    }

    struct Key: Hashable {
        let time: Int
        let phases: [Phase]
        let entries: [Entry]
        let arrivalTimes: [Int]
        let wakes: [QueueTime.Wake]
        let pauseEnd: Int
        let hasPaused: Bool
        let lastTakeTime: Int
        let lastTakeCount: Int
    }

    var key: Key {
        Key(
            time: time, phases: phases, entries: entries, arrivalTimes: arrivalTimes, wakes: wakes, pauseEnd: pauseEnd,
            hasPaused: hasPaused, lastTakeTime: lastTakes.time, lastTakeCount: lastTakes.count)
    }

    var isEnd: Bool { phases.allSatisfy { $0 == .finished } }

    func isProgress(_ event: Event) -> Bool {
        switch event {
        case .arrive, .wake, .finish: true
        case .passSecond, .settle, .withdraw, .pause: false
        }
    }

    var events: [Event] {
        var events: [Event] = []
        if let next = phases.firstIndex(of: .made) { events.append(.arrive(next)) }
        if time < plan.seconds { events.append(.passSecond) }
        if !wakes.isEmpty { events.append(.wake) }
        for number in phases.indices {
            guard case .executing(let isSettled) = phases[number] else { continue }
            events.append(.finish(number))
            if plan.requests[number].actual != nil, !isSettled { events.append(.settle(number)) }
            if plan.mayWithdraw, entries.last?.request == number, !isSettled, entries.count < 6 {
                events.append(.withdraw(number))
            }
        }
        if plan.pause != nil, !hasPaused { events.append(.pause) }
        return events
    }

    mutating func apply(_ event: Event) {
        switch event {
        case .arrive(let number):
            arrivalTimes.append(time)
            wait(number)
        case .passSecond: advance(to: time + 1)
        case .wake: advance(to: max(time, Int(wakes.last!.reading.components.seconds)))
        case .settle(let number):
            let request = plan.requests[number]
            phases[number] = .executing(isSettled: true)
            let difference = request.actual! - request.cost
            entries.append(Entry(time: time, request: number, amount: difference))
            state.correct(by: difference, for: request.key)
            total.correct(by: difference)
            if let key = request.key { ofKeys[key].correct(by: difference) }
        case .finish(let number):
            phases[number] = .finished
            state.release(1, for: plan.requests[number].key)
        case .withdraw(let number): withdraw(number)
        case .pause:
            hasPaused = true
            pauseEnd = time + 2
            if case .ofKey(let key) = plan.pause {
                state.pause(for: .seconds(2), key)
            } else {
                state.pause(for: .seconds(2), nil)
            }
        }
        while let number = state.next() { start(number) }
        if let wake = state.nextWake() { wakes.append(wake) }
        checkWaiting()
    }

    private mutating func advance(to second: Int) {
        while time < second {
            time += 1
            total.passSecond()
            for key in ofKeys.indices { ofKeys[key].passSecond() }
        }
        state.advance(to: .seconds(time))
        while let wake = wakes.last, wake.reading <= .seconds(time) { state.noteWake(wakes.removeLast()) }
    }

    private mutating func wait(_ number: Int) {
        let request = plan.requests[number]
        phases[number] = .waiting
        _ = state.wait(
            number, weight: 1, for: request.key, cost: request.cost, level: .medium,
            arrival: LineArrival(number))
    }

    private mutating func withdraw(_ number: Int) {
        let request = plan.requests[number]
        state.release(1, for: request.key, cost: request.cost, isUnused: true)
        entries.append(Entry(time: time, request: number, amount: -request.cost))
        if lastTakes.count > 0 {
            lastTakes.count -= 1
            total.giveBack(request.cost, takenBefore: time - lastTakes.time)
            if let key = request.key { ofKeys[key].giveBack(request.cost, takenBefore: time - lastTakes.time) }
        }
        wait(number)
    }

    private func isPaused(_ key: Int?) -> Bool {
        if pauseEnd <= time { return false }
        if case .ofKey(let paused) = plan.pause { return paused == key }
        return true
    }

    private mutating func start(_ number: Int) {
        let request = plan.requests[number]
        let ofKey = request.key.map { ofKeys[$0] }
        if !total.admits(request.cost) || ofKey?.admits(request.cost) == false || isPaused(request.key) {
            violations.append("request \(number) started without its tokens at second \(time)")
        }
        phases[number] = .executing(isSettled: false)
        lastTakes = (time, lastTakes.time == time ? lastTakes.count + 1 : 1)
        entries.append(Entry(time: time, request: number, amount: request.cost, isStart: true))
        total.take(request.cost)
        if let key = request.key { ofKeys[key].take(request.cost) }
        if let rate = plan.total { check(rate, nil, number) }
        if let rate = plan.perKey, let key = request.key { check(rate, key, number) }
    }

    /// A period that ends with a start must not cost more than a window allows, unless the start alone does.
    private mutating func check(_ rate: OperationRate, _ key: Int?, _ number: Int) {
        if plan.mayWithdraw { return }
        for window in [rate.first] + rate.others where plan.requests[number].cost <= window.allowance {
            // See `OperationRate.allowance`.
            let period = window.allowance - window.burst + 1
            if window.allowance == window.burst { continue }
            let sum = entries.reduce(0) { sum, entry in
                if time - entry.time >= period { return sum }
                if key != nil, plan.requests[entry.request].key != key { return sum }
                return sum + (window.unit == .cost ? entry.amount : entry.isStart ? 1 : 0)
            }
            if sum > window.allowance { violations.append("\(period) seconds up to \(time) cost \(sum)") }
        }
    }

    /// The first waiting request of each key, and the keys' first request without a key.
    private var firstWaiting: [Request] {
        var keys: Set<Int?> = []
        return phases.indices.compactMap { number in
            phases[number] == .waiting && keys.insert(plan.requests[number].key).inserted ? plan.requests[number] : nil
        }
    }

    /// No request waits that may start, and a wake is planned before one may.
    private mutating func checkWaiting() {
        if firstWaiting.isEmpty { return }
        var later = self
        while !later.mustStart {
            if later.time > time + 100 { return violations.append("a request waits for too long") }
            later.time += 1
            later.total.passSecond()
            for key in later.ofKeys.indices { later.ofKeys[key].passSecond() }
        }
        if later.time == time { return violations.append("a request waits that may start at second \(time)") }
        if let wake = wakes.last, wake.reading <= .seconds(later.time) { return }
        violations.append("no wake is planned up to second \(later.time)")
    }

    /// Whether a request may start, whatever the order of the keys.
    private var mustStart: Bool {
        let open = firstWaiting.filter { request in
            !isPaused(request.key) && request.key.map { ofKeys[$0].admits(request.cost) } ?? true
        }
        return !open.isEmpty && open.allSatisfy { total.admits($0.cost) }
    }
}
