/// The schedules of an exploration, in order.
struct SchedulePlan: Sendable {
    private enum Kind: Sendable {
        case only(Schedule)
        /// All schedules with at most this number of deviations.
        case exhaustive(deviations: Int)
        case random(ScheduleStrategy)
    }

    private let kind: Kind
    /// The schedules of earlier failures, which precede the others.
    private let also: [Schedule]
    /// The largest number of schedules.
    private let count: Int
    /// The number of schedules of earlier failures that were returned.
    private var earlier = 0
    /// The number of other schedules that were returned.
    private var number = 0
    /// The number of steps of the longest schedule.
    private var length = 0
    /// The schedules that were found, for a plan of all schedules.
    private var lists: [[Deviation]] = [[]]

    init(_ settings: Schedules) {
        count = settings.count
        also = settings.only == nil ? settings.also.map { Schedule($0)! } : []
        if let only = settings.only {
            kind = .only(only)
        } else if case .exhaustive(let deviations) = settings.strategy.kind {
            kind = .exhaustive(deviations: deviations)
        } else {
            kind = .random(settings.strategy)
        }
    }

    /// Whether the strategy has no other schedule.
    var isComplete: Bool {
        if case .exhaustive = kind { number >= lists.count } else { false }
    }

    /// Returns the choices of the next schedule, and the seed of its random numbers; nil if there is no other schedule.
    mutating func next() -> (chooser: Chooser, seed: UInt64)? {
        if earlier < also.count {
            earlier += 1
            return (Chooser(also[earlier - 1]), also[earlier - 1].seed)
        }
        defer { number += 1 }
        switch kind {
        case .only(let schedule): return number == 0 ? (Chooser(schedule), schedule.seed) : nil
        case .exhaustive: return number < lists.count ? (Chooser(Schedule(lists[number])), 0) : nil
        case .random(let strategy):
            let seed = UInt64(number)
            return (number == 0 ? Chooser(Schedule()) : Chooser(strategy, seed: seed, length: length), seed)
        }
    }

    /// Takes in the choices that the last schedule had.
    mutating func note(_ record: ScheduleRecord) {
        length = max(length, record.widths.count)
        guard number > 0 else { return }
        if case .exhaustive(let deviations) = kind { extend(lists[number - 1], record.widths, deviations) }
    }

    /// Adds the schedules that deviate from a schedule once more, as far as they can still be run.
    ///
    /// - Parameter widths: The number of ready jobs at each step.
    private mutating func extend(_ list: [Deviation], _ widths: [Int], _ limit: Int) {
        let first = list.last.map { $0.step + 1 } ?? 0
        guard list.count < limit, first < widths.count else { return }
        for step in first..<widths.count {
            for choice in 1..<max(widths[step], 1) where lists.count <= count {
                lists.append(list + [Deviation(step: step, choice: choice)])
            }
        }
    }
}
