/// The schedules of an exploration, in order.
struct SchedulePlan: Sendable {
    private enum Kind: Sendable {
        case only(Schedule)
        /// All schedules with at most this number of delays.
        case exhaustive(delays: Int)
        case random(ScheduleStrategy)
    }

    private let kind: Kind
    /// The schedules of earlier failures, which precede the others.
    private let also: [Schedule]
    /// The largest number of schedules.
    private let count: Int
    private let faults: ScheduleFaults
    private let interruptsJobs: Bool
    /// The number of schedules of earlier failures that were returned.
    private var earlier = 0
    /// The number of other schedules that were returned.
    private var number = 0
    /// The numbers of steps of the last schedules. One of them may have waited in a long loop.
    private var lengths: [Int] = []
    /// The numbers of steps of the tasks in the last schedule that counted them.
    private var stepCounts: [Int] = []
    /// The schedules that were found, for a plan of all schedules.
    private var lists: [[Change]] = [[]]
    /// The states in which the next job was delayed.
    private var states: Set<UInt64> = []

    init(_ settings: Schedules) {
        count = settings.count
        faults = settings.faults
        interruptsJobs = settings.threads == .controlled
        also = settings.only == nil ? settings.also.map { Schedule($0)! } : []
        if let only = settings.only {
            kind = .only(only)
        } else if case .exhaustive(let delays) = settings.strategy.kind {
            kind = .exhaustive(delays: delays)
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
            let (seed, length) = (UInt64(number), lengths.isEmpty ? 0 : lengths[number % lengths.count])
            if number == 0 { return (Chooser(Schedule()), seed) }
            return (
                Chooser(
                    strategy, seed: seed, length: length, steps: stepCounts, faults, interruptsJobs: interruptsJobs),
                seed
            )
        }
    }

    /// Takes in the choices that the last schedule had.
    mutating func note(_ record: ScheduleRecord) {
        if lengths.count == 16 { lengths.removeFirst() }
        lengths.append(record.widths.count)
        if !record.stepCounts.isEmpty { stepCounts = record.stepCounts }
        guard number > 0 else { return }
        if case .exhaustive(let delays) = kind { extend(lists[number - 1], record, delays) }
    }

    /// Adds the schedules with one delay more, as far as they can still be run.
    private mutating func extend(_ list: [Change], _ record: ScheduleRecord, _ limit: Int) {
        // A schedule with a change that has no effect equals a shorter one.
        guard list.count < limit, record.changes.count == list.count else { return }
        // Several jobs can be delayed at one step.
        for step in (list.last?.step ?? 0)..<record.widths.count where record.widths[step] > 1 && lists.count <= count {
            if !states.insert(record.states[step]).inserted { continue }
            lists.append(list + [Change(step: step, .delay(until: .max))])
        }
    }
}
