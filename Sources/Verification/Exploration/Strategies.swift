/// Makes the choices of schedules.
protocol Strategy: AnyObject, Sendable {
    /// Begins the next schedule. Returns false if all have been run.
    func begin() -> Bool

    /// Chooses the thread that gets the turn next.
    ///
    /// - Parameters:
    ///   - options: The numbers of the threads that can run.
    ///   - continues: Whether the first of these threads had the turn.
    /// - Returns: The index of the thread in `options`.
    func pickThread(_ options: [Int], continues: Bool) -> Int

    /// Chooses a number below a bound, which is at least 2.
    func pickValue(below count: Int) -> Int
}

/// A generator of random numbers with a seed (SplitMix64, G. L. Steele et al., OOPSLA 2014).
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x2545_F491_4F6C_DD1D }

    mutating func number(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        return Int(((bits >> 32) &* UInt64(bound)) >> 32)
    }
}

/// Switches threads at random points, with a probability of 1/2, 1/4, 1/10 or 1/30, which the seed determines.
final class UniformStrategy: Strategy, @unchecked Sendable {
    // Only the thread that has the turn uses a strategy. This also holds for the strategies below.
    private var numbers: SeededNumbers
    private let odds: Int

    init(seed: UInt64) {
        numbers = SeededNumbers(seed: seed)
        odds = [2, 4, 10, 30][numbers.number(below: 4)]
    }

    func begin() -> Bool { true }

    func pickThread(_ options: [Int], continues: Bool) -> Int {
        if !continues { return numbers.number(below: options.count) }
        if numbers.number(below: odds) > 0 { return 0 }
        return 1 + numbers.number(below: options.count - 1)
    }

    func pickValue(below count: Int) -> Int { numbers.number(below: count) }
}

/// Probabilistic concurrency testing (S. Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of
/// Finding Bugs", ASPLOS 2010). The thread with the highest priority runs. Priorities are random; at `depth - 1` random
/// choices the running thread gets a priority below all others. A fault that needs `depth` ordered steps is found with
/// a probability of at least 1 / (threads * length ^ (depth - 1)).
///
/// After a length far above the usual one, the choices of a schedule are uniformly random. Otherwise threads that wait
/// for each other in loops might never end.
final class PCTStrategy: Strategy, @unchecked Sendable {
    private var numbers: SeededNumbers
    private var priorities: [Int: Int] = [:]
    private var changes: Set<Int>
    private var position = 0
    private var lowest = 0
    private let fair: UniformStrategy
    private let fairFrom: Int

    /// - Parameters:
    ///   - depth: The number of steps whose order causes the fault.
    ///   - length: The approximate number of choices in a schedule.
    init(seed: UInt64, depth: Int, length: Int) {
        numbers = SeededNumbers(seed: seed)
        fair = UniformStrategy(seed: seed)
        fairFrom = 1000 + 4 * length
        changes = []
        for _ in 1..<max(depth, 2) { changes.insert(numbers.number(below: max(length, 1))) }
    }

    func begin() -> Bool { true }

    func pickThread(_ options: [Int], continues: Bool) -> Int {
        defer { position += 1 }
        if position >= fairFrom { return fair.pickThread(options, continues: continues) }
        for thread in options where priorities[thread] == nil {
            priorities[thread] = 1 + numbers.number(below: 1 << 30)
        }
        var index = highest(options)
        if changes.contains(position) {
            lowest -= 1
            priorities[options[index]] = lowest
            index = highest(options)
        }
        return index
    }

    private func highest(_ options: [Int]) -> Int {
        options.indices.max { priorities[options[$0]]! < priorities[options[$1]]! }!
    }

    func pickValue(below count: Int) -> Int { numbers.number(below: count) }
}

/// All schedules, depth first, with at most a given number of preemptions (M. Musuvathi and S. Qadeer, "Iterative
/// Context Bounding", PLDI 2007). A preemption interrupts a thread that could have continued.
final class DepthFirstStrategy: Strategy, @unchecked Sendable {
    private var path: [(chosen: Int, count: Int)] = []
    private var position = 0
    private var hasBegun = false
    private var interruptions = 0
    private let bound: Int

    init(preemptions bound: Int) { self.bound = bound }

    func begin() -> Bool {
        if hasBegun {
            while let last = path.last, last.chosen + 1 == last.count { path.removeLast() }
            if path.isEmpty { return false }
            path[path.count - 1].chosen += 1
        }
        hasBegun = true
        position = 0
        interruptions = 0
        return true
    }

    func pickThread(_ options: [Int], continues: Bool) -> Int {
        let index = pick(continues && interruptions >= bound ? 1 : options.count)
        if continues, index > 0 { interruptions += 1 }
        return index
    }

    func pickValue(below count: Int) -> Int { pick(count) }

    private func pick(_ count: Int) -> Int {
        defer { position += 1 }
        if position == path.count { path.append((chosen: 0, count: count)) }
        return min(path[position].chosen, count - 1)
    }
}

/// One schedule, from its choices. A choice that does not fit the program counts as 0.
///
/// After a length above that of all intended schedules, the choices are random. So a loop in which a thread waits for
/// another thread does not count as endless.
final class ReplayStrategy: Strategy, @unchecked Sendable {
    private var left: [Choices.Deviation]
    private var position = 0
    private let fair = UniformStrategy(seed: 0)
    private static let fairFrom = 5000

    init(_ choices: Choices) { left = choices.deviations.reversed() }

    func begin() -> Bool { true }

    func pickThread(_ options: [Int], continues: Bool) -> Int {
        if position >= Self.fairFrom { return fair.pickThread(options, continues: continues) }
        return pick(options.count)
    }

    func pickValue(below count: Int) -> Int { pick(count) }

    private func pick(_ count: Int) -> Int {
        defer { position += 1 }
        guard let next = left.last, next.position == position else { return 0 }
        left.removeLast()
        return next.value < count ? next.value : 0
    }
}
