import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("LimitState with keys", .inTurns)
struct LimitStateKeyTests {
    @Test("A limit is steady with one key, unless the key has more permits than its capacity")
    func steady() {
        var state = LimitState<Int>(capacity: 4, perKey: 2)
        let key = state.addKey()
        #expect(state.tryAcquire(2, for: key) && state.isSteady)
        state.setCapacity(1, of: key)
        #expect(!state.isSteady)
        state.release(2, for: key)
        #expect(state.isSteady && state.tryAcquire(1, for: key))
        state.setCapacity(nil, of: key)
        state.setCapacityPerKey(0)
        #expect(!state.isSteady)
        state.release(1, for: key)
        let other = state.addKey()
        #expect(!state.isSteady)
        state.removeKey(other)
        #expect(state.isSteady && state.tryAcquire(1) && !state.isSteady)
    }

    // MARK: Beside a plain model

    /// A `LimitState`, and a plain model that decides whether each answer of the state is right.
    private struct Pair {
        struct Waiter {
            let number: Int
            let key: Int?
            let weight: Int
            var level: PriorityLevel
        }

        var state: LimitState<Int>
        var capacity: Int
        var perKey: Int
        var keys: [Int] = []
        var shares: [Int: Int] = [:]
        /// The waiters in the order of arrival.
        var waiting: [Waiter] = []
        /// The permits that were acquired and not released.
        var held: [(key: Int?, weight: Int)] = []
        var tags: [Int?: [PriorityLevel: UInt128]] = [:]
        var served: [PriorityLevel: UInt128] = [:]
        var lostLeads: Set<PriorityLevel> = []
        var tickets: [Int: LimitState<Int>.Ticket] = [:]
        var servedCount = 0

        init(capacity: Int, perKey: Int, keyCount: Int) {
            state = LimitState(capacity: capacity, perKey: perKey)
            (self.capacity, self.perKey) = (capacity, perKey)
            for _ in 0..<keyCount { addKey() }
        }

        var taken: Int { held.reduce(0) { $0 + $1.weight } }

        func taken(_ key: Int?) -> Int { held.filter { $0.key == key }.reduce(0) { $0 + $1.weight } }

        func fits(_ weight: Int) -> Bool { weight <= capacity - taken || (taken == 0 && capacity > 0) }

        func keyAdmits(_ key: Int?, _ weight: Int) -> Bool {
            key == nil || weight <= perKey - taken(key) || (taken(key) == 0 && perKey > 0)
        }

        /// The first waiter of each key whose permits suffice for it.
        var candidates: [Waiter] {
            var first: [Int?: Waiter] = [:]
            for waiter in waiting where first[waiter.key].map({ waiter.level > $0.level }) ?? true {
                first[waiter.key] = waiter
            }
            return first.values.filter { keyAdmits($0.key, $0.weight) }
        }

        /// If a removed key was ahead of the last service, a new key is one permit behind that service.
        mutating func addKey() {
            let key = state.addKey()
            keys.append(key)
            for level in lostLeads { tags[key, default: [:]][level] = (served[level] ?? 0) + 1 << 16 }
        }

        mutating func removeKey(_ key: Int) {
            for (level, tag) in tags[key] ?? [:] where tag > served[level] ?? 0 { lostLeads.insert(level) }
            (shares[key], tags[key]) = (nil, nil)
            keys.remove(at: keys.firstIndex(of: key)!)
            state.removeKey(key)
        }

        func tag(_ waiter: Waiter) -> UInt128 {
            max(tags[waiter.key]?[waiter.level] ?? 0, served[waiter.level] ?? 0)
        }

        mutating func note(_ waiter: Waiter) {
            held.append((waiter.key, waiter.weight))
            let tag = tag(waiter)
            if tag > served[waiter.level] ?? 0 { lostLeads.remove(waiter.level) }
            served[waiter.level] = tag
            let share = waiter.key.map { shares[$0] ?? 1 } ?? 1
            tags[waiter.key, default: [:]][waiter.level] = tag + UInt128(waiter.weight) << 16 / UInt128(share)
        }

        /// Serves waiters until none can be served. Returns a complaint if the state has served a wrong waiter.
        mutating func serve() -> String? {
            while true {
                let candidates = candidates
                let highest = candidates.map(\.level).max()
                let ofLevel = candidates.filter { $0.level == highest }
                let lowest = ofLevel.map(tag).min()
                let possible = ofLevel.filter { tag($0) == lowest }
                guard let number = state.next() else {
                    if possible.isEmpty || possible.contains(where: { !fits($0.weight) }) { break }
                    return "none is served of \(possible)"
                }
                guard let waiter = possible.first(where: { $0.number == number }) else {
                    return "\(number) is served instead of \(possible)"
                }
                if !fits(waiter.weight) { return "\(waiter) is served beyond the capacity" }
                note(waiter)
                waiting.removeAll { $0.number == number }
                servedCount += 1
            }
            if state.permits.taken != taken { return "\(state.permits.taken) are taken instead of \(taken)" }
            for key in keys where state.takenCount(of: key) != taken(key) { return "other permits of key \(key)" }
            for key in keys where state.waitingCount(of: key) != waiting.count(where: { $0.key == key }) {
                return "other waiters of key \(key)"
            }
            return state.waitingCount == waiting.count ? nil : "other waiters"
        }

        mutating func wait(_ number: Int, _ key: Int?, _ weight: Int, _ level: PriorityLevel) {
            tickets[number] = state.wait(
                number, weight: weight, for: key, level: level, arrival: LineArrival(number))
            waiting.append(Waiter(number: number, key: key, weight: weight, level: level))
        }

        mutating func tryAcquire(_ key: Int?, _ weight: Int, _ level: PriorityLevel) -> String? {
            let isFree =
                weight <= capacity - taken && (key == nil || weight <= perKey - taken(key)) && candidates.isEmpty
                && !waiting.contains { $0.key == key }
            if state.tryAcquire(weight, for: key, level: level) != isFree { return "tryAcquire is not \(isFree)" }
            if isFree { note(Waiter(number: -1, key: key, weight: weight, level: level)) }
            return nil
        }

        mutating func release(_ index: Int) {
            let (key, weight) = held.remove(at: index)
            state.release(weight, for: key)
        }

        mutating func leave(_ number: Int) -> String? {
            let isWaiting = waiting.contains { $0.number == number }
            let left = state.leave(tickets[number]!)
            waiting.removeAll { $0.number == number }
            return left == (isWaiting ? number : nil) ? nil : "\(number) left although it was served"
        }
    }

    @Test("Random calls are answered as by a plain model", arguments: [(3, 2), (5, 3), (40, 6)])
    func randomUse(mostWaiting: Int, keyCount: Int) {
        var servedCount = 0
        for seed in 0..<80 {
            var random = SeededGenerator(seed: UInt64(seed))
            var pair = Pair(
                capacity: random.number(below: 5), perKey: seed % 4 == 0 ? .max : random.number(below: 3) + 1,
                keyCount: keyCount)
            for number in 0..<300 {
                let complaint = step(number, &pair, &random, mostWaiting) ?? pair.serve()
                if let complaint {
                    Issue.record("seed \(seed), step \(number): \(complaint)")
                    return
                }
            }
            servedCount += pair.servedCount
        }
        #expect(servedCount > 2000)
    }

    private func step(
        _ number: Int, _ pair: inout Pair, _ random: inout SeededGenerator, _ mostWaiting: Int
    ) -> String? {
        let key = random.happens(percent: 15) ? nil : pair.keys.randomElement(using: &random)
        let (weight, level) = (random.number(below: 3) + 1, random.happens(percent: 30) ? random.level() : .medium)
        switch random.number(below: 16) {
        case 0..<5: if pair.waiting.count < mostWaiting { pair.wait(number, key, weight, level) }
        case 5, 6: return pair.tryAcquire(key, weight, level)
        case 7:
            pair.capacity = random.number(below: 7)
            pair.state.setCapacity(pair.capacity)
        case 8:
            pair.perKey = random.number(below: 4)
            pair.state.setCapacityPerKey(pair.perKey)
        case 9:
            if let number = pair.tickets.keys.sorted().suffix(12).randomElement(using: &random) {
                return pair.leave(number)
            }
        case 10:
            guard let number = pair.tickets.keys.sorted().suffix(12).randomElement(using: &random) else { break }
            pair.state.raise(pair.tickets[number]!, to: level)
            if let index = pair.waiting.firstIndex(where: { $0.number == number }) {
                pair.waiting[index].level = max(pair.waiting[index].level, level)
            }
        case 11:
            if let key {
                pair.shares[key] = random.number(below: 3) + 1
                pair.state.setShare(pair.shares[key]!, of: key)
            }
        case 12:
            guard let key, pair.taken(key) == 0, !pair.waiting.contains(where: { $0.key == key }), pair.keys.count > 1
            else { break }
            pair.removeKey(key)
            pair.addKey()
        default:
            if let index = pair.held.indices.randomElement(using: &random) { pair.release(index) }
        }
        return nil
    }

    @Test("All sequences of seven calls are answered as by a plain model", .computing)
    func everySequence() {
        var (sequences, complaints) = (0, Set<String>())
        func extend(_ pair: Pair, _ depth: Int) {
            sequences += 1
            if depth == 0 || !complaints.isEmpty { return }
            for call in 0..<6 {
                var pair = pair
                let (one, other, number) = (pair.keys[0], pair.keys[1], 10 * (10 - depth) + call)
                var complaint: String?
                switch call {
                case 0: pair.wait(number, one, 1, .medium)
                case 1: pair.wait(number, other, 2, .medium)
                case 2: pair.wait(number, one, 1, .high)
                case 3: pair.wait(number, nil, 1, .medium)
                case 4: if pair.held.isEmpty { continue } else { pair.release(0) }
                default: if let first = pair.waiting.first { complaint = pair.leave(first.number) } else { continue }
                }
                if let complaint = complaint ?? pair.serve() { complaints.insert(complaint) }
                extend(pair, depth - 1)
            }
        }
        extend(Pair(capacity: 2, perKey: 1, keyCount: 2), 7)
        #expect(complaints == [])
        #expect(sequences > 50_000)
    }

    // MARK: Fair shares

    /// Serves waiters of keys that always have more of them. Each served waiter releases its permits later.
    private struct Service {
        var state: LimitState<Int>
        var running: [Int] = []
        var served: [Int: Int] = [:]
        var arrivals = 0
        let weights: [Int: Int]

        init(capacity: Int, perKey: Int = .max, weights: [Int: Int] = [:]) {
            state = LimitState(capacity: capacity, perKey: perKey)
            self.weights = weights
        }

        mutating func wait(_ key: Int, count: Int = 1) {
            for _ in 0..<count {
                arrivals += 1
                _ = state.wait(
                    key, weight: weights[key] ?? 1, for: key, level: .medium, arrival: LineArrival(arrivals))
            }
        }

        mutating func serve() {
            while let key = state.next() {
                running.append(key)
                served[key, default: 0] += 1
            }
        }

        mutating func end(_ index: Int) {
            let key = running.remove(at: index)
            state.release(weights[key] ?? 1, for: key)
            serve()
        }
    }

    @Test("Each of 1,000 keys is served equally often beside a key with 100,000 waiters", .computing)
    func thousandKeys() {
        var service = Service(capacity: 16, perKey: 4)
        var random = SeededGenerator(seed: 7)
        let keys = (0..<1000).map { _ in service.state.addKey() }
        service.wait(keys[0], count: 100_000)
        service.serve()
        for key in keys.dropFirst() { service.wait(key, count: 110) }
        for _ in 0..<100_000 { service.end(random.number(below: service.running.count)) }
        let counts = keys.map { Double(service.served[$0] ?? 0) }
        let sum = counts.reduce(0, +)
        let jain = sum * sum / (1000 * counts.reduce(0) { $0 + $1 * $1 })
        #expect(jain >= 0.9999 && counts.max()! - counts.min()! <= 5)

        let newcomer = service.state.addKey()
        let before = service.served.values.reduce(0, +)
        service.wait(newcomer)
        while service.served[newcomer] == nil { service.end(0) }
        #expect(service.served.values.reduce(0, +) - before <= 1001)
    }

    @Test("Keys are served in proportion to their shares, and an unused share goes to the others")
    func shares() {
        var service = Service(capacity: 1)
        let keys = (0..<3).map { _ in service.state.addKey() }
        for (key, share) in zip(keys, [1, 2, 4]) { service.state.setShare(share, of: key) }
        for key in keys { service.wait(key, count: 800) }
        service.serve()
        for _ in 0..<699 { service.end(0) }
        #expect(keys.map { service.served[$0]! }.elementsEqual([100, 200, 400]) { abs($0 - $1) <= 2 })
        while service.served[keys[2]]! < 800 { service.end(0) }
        let before = keys.map { service.served[$0]! }
        for _ in 0..<30 { service.end(0) }
        #expect(service.served[keys[0]]! - before[0] >= 9 && service.served[keys[1]]! - before[1] >= 19)
    }

    @Test("Large weights count as much as many small ones, and do not starve")
    func weights() {
        let (heavy, light) = (0, 1)
        var service = Service(capacity: 1 << 20, weights: [heavy: 1 << 20, light: 1 << 10])
        let keys = [service.state.addKey(), service.state.addKey()]
        #expect(keys == [heavy, light])
        service.wait(light, count: 100_000)
        service.wait(heavy, count: 20)
        service.serve()
        while service.served[heavy] ?? 0 < 10 { service.end(0) }
        let ratio = Double(service.served[light]!) / Double(service.served[heavy]!)
        #expect(ratio > 900 && ratio < 1300)
    }

    @Test("A key at its capacity delays no other key, and gets no credit for its wait")
    func capped() {
        var service = Service(capacity: 3, perKey: 1)
        let keys = (0..<2).map { _ in service.state.addKey() }
        service.wait(keys[0], count: 10)
        service.wait(keys[1], count: 1)
        service.serve()
        #expect(service.running == keys)
        let acquired = (service.state.tryAcquire(1), service.state.tryAcquire(1, for: keys[1]))
        #expect(acquired == (true, false))
        service.end(0)
        #expect(service.running == [keys[1], keys[0]])
    }

    @Test("A key that lacks permits does not let its lower levels overtake its higher ones")
    func levelsOfKey() {
        var state = LimitState<String>(capacity: 5, perKey: 2)
        let key = state.addKey()
        _ = state.tryAcquire(1, for: key)
        _ = state.wait("heavy", weight: 2, for: key, level: .high, arrival: LineArrival(1))
        _ = state.wait("light", weight: 1, for: key, level: .medium, arrival: LineArrival(2))
        _ = state.wait("other", weight: 1, level: .low, arrival: LineArrival(3))
        let early = [state.next(), state.next()]
        #expect(early == ["other", nil])
        state.release(1, for: key)
        let late = [state.next(), state.next()]
        #expect(late == ["heavy", nil])
    }

    @Test("Turns that are over are forgotten, and removed keys use no memory")
    func memory() {
        var state = LimitState<Int>(capacity: 1, perKey: 1)
        _ = state.tryAcquire(1)
        for round in 0..<20_000 {
            let key = state.addKey()
            let ticket = state.wait(round, weight: 1, for: key, level: .medium, arrival: LineArrival(round))
            let (served, left) = (state.next(), state.leave(ticket))
            #expect(served == nil && left == round)
            state.removeKey(key)
            let other = state.addKey()
            state.removeKey(other)
        }
        #expect(state.keyCount == 0 && state.turnMemory <= 128)
        let keeper = state.addKey()
        for round in 0..<20_000 {
            let key = state.addKey()
            let ticket = state.wait(round, weight: 1, for: key, level: .medium, arrival: LineArrival(round))
            state.leave(ticket)
            state.removeKey(key)
        }
        #expect(state.turnMemory <= 256)
        state.removeKey(keeper)
    }
}
