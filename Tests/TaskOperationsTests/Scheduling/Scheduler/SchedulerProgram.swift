import TaskOperationsTesting

@testable import TaskOperations

/// A random sequence of events, each of them legal at its position. The seed determines all of it.
struct SchedulerProgram {
    /// The frequencies of the events, as weights, and the size of the program.
    struct Mix: Sendable, CustomStringConvertible {
        let description: String
        var steps = 80
        var mostOperations = 5
        var widths = 0...3
        var percentBarriers = 25
        var percentReady = 70
        var levels = PriorityLevel.allCases
        /// The frequency of changes of readiness, where 10 is that of additions.
        var readiness = 10
        var levelChanges = 4
        var lending = 6
        var ends = 6
        /// The frequency of suspending, resuming, setting the width and shutting down.
        var control = 5
        /// The number of steps between two comparisons of all properties.
        var compareEvery = 1
        /// The range for the maximum number of pending operations; nil for no maximum.
        var queuedLimits: ClosedRange<Int>?
        var room = 0
        /// The frequency of setting a level's cap.
        var caps = 0
        /// The frequency of time steps. If it is positive, the queue has a rate.
        var time = 0
    }

    let mix: Mix
    private(set) var pair: SideBySide
    private(set) var history: [SchedulerEvent] = []
    private var random: SeededGenerator
    private var added = 0
    private let hasWeights: Bool

    init(seed: Int, mix: Mix) {
        random = SeededGenerator(seed: UInt64(seed))
        self.mix = mix
        var configuration = TaskOperationQueue.Configuration(
            order: seed.isMultiple(of: 3) ? .lastInFirstOut : .firstInFirstOut)
        if mix.time > 0 {
            let interval = Duration.seconds(NaiveScheduler.interval)
            configuration.rate = .one(per: interval, burst: 1 + seed % 4)
        }
        if let limits = mix.queuedLimits {
            configuration.maxQueuedOperationCount = Int.random(in: limits, using: &random)
            configuration.overflow = [.reject, .dropOldest][seed % 5 % 2]
        }
        configuration.maxConcurrentOperationCount = Int.random(in: mix.widths, using: &random)
        configuration.isSuspended = random.happens(percent: 20)
        pair = SideBySide(configuration)
        hasWeights = seed.isMultiple(of: 4)
    }

    /// Runs to the end of the program, and then until the queue is empty.
    mutating func run() throws(Disagreement) {
        for step in 0..<mix.steps {
            if let event = nextEvent() { try happen(event, isCompared: step % mix.compareEvery == 0) }
        }
        try happen(.setSuspended(false), isCompared: true)
        try happen(.setWidth(max(1, pair.naive.width)), isCompared: true)
        for level in mix.levels where pair.naive.caps[level] == 0 { try happen(.setCap(1, level), isCompared: true) }
        while let event = closingEvent() { try happen(event, isCompared: pair.naive.operations.count < 20) }
        try pair.compare()
        if !pair.state.isEmpty { throw Disagreement(description: "it is stuck with \(pair.state.elements)") }
    }

    private mutating func happen(_ event: SchedulerEvent, isCompared: Bool) throws(Disagreement) {
        history.append(event)
        try pair.apply(event)
        try pair.admit()
        if isCompared { try pair.compare() }
    }
}

// MARK: - Choosing events

extension SchedulerProgram {
    private mutating func nextEvent() -> SchedulerEvent? {
        let kinds: [(weight: Int, choose: (inout Self) -> SchedulerEvent?)] = [
            (10, { $0.adding() }),
            (14, { _ in .start }),
            (mix.ends, { $0.ending() }),
            (mix.readiness, { $0.changingReadiness() }),
            (mix.levelChanges, { $0.changingLevel() }),
            (mix.levelChanges, { $0.awaitingTheEnd() }),
            (mix.lending, { $0.lending() }),
            (mix.control, { $0.controlling() }),
            (mix.room, { $0.waitingForRoom() }),
            (mix.time, { .passTime($0.random.number(below: 15)) }),
            (
                mix.caps,
                { .setCap(Int.random(in: 0...3, using: &$0.random), $0.mix.levels.randomElement(using: &$0.random)!) }
            ),
            (1, { .startAt($0.random.level()) }),
        ]
        var rest = random.number(below: kinds.reduce(0) { $0 + $1.weight })
        for kind in kinds {
            rest -= kind.weight
            if rest < 0 { return kind.choose(&self) }
        }
        return nil
    }

    private mutating func adding() -> SchedulerEvent? {
        guard pair.naive.admission != .shut, pair.naive.operations.count < mix.mostOperations else { return nil }
        added += 1
        let level = mix.levels.randomElement(using: &random)!
        let weight = hasWeights && random.happens(percent: 40) ? Int.random(in: 1...4, using: &random) : 1
        return .add(added, level, isBarrier: random.happens(percent: mix.percentBarriers), weight: weight)
    }

    /// Ends an executing operation, or in 25 % of the calls an operation of any status.
    private mutating func ending() -> SchedulerEvent? {
        let anyStatus = random.happens(percent: 25)
        return operation { anyStatus || $0.status == .executing }.map { .end($0.id) }
    }

    private mutating func changingReadiness() -> SchedulerEvent? {
        let isReady = random.happens(percent: mix.percentReady)
        return operation { _ in true }.map { .setReady($0.id, isReady) }
    }

    private mutating func changingLevel() -> SchedulerEvent? {
        let level = mix.levels.randomElement(using: &random)!
        return operation { _ in true }.map { .setLevel($0.id, level) }
    }

    private mutating func awaitingTheEnd() -> SchedulerEvent? {
        if let level = pair.naive.endLevels.randomElement(using: &random), random.happens(percent: 60) {
            return .endDisinherits(level)
        }
        return random.happens(percent: 20) ? .idleWaitersChanged(mix.levels.randomElement(using: &random)!) : nil
    }

    private mutating func lending() -> SchedulerEvent? {
        switch random.number(below: 3) {
        case 0:
            return operation { $0.status != .waiting && $0.status != .ready }.map { .beginWait($0.id) }
        case 1:
            return operation { $0.status == .lent }.map { .endWait($0.id) }
        default:
            return .takeReturn
        }
    }

    private mutating func waitingForRoom() -> SchedulerEvent? {
        if pair.naive.admission == .shut { return nil }
        switch random.number(below: 6) {
        case 0: return .setQueuedLimit(Int.random(in: mix.queuedLimits!, using: &random))
        case 1: return pair.naive.producers.randomElement(using: &random).map { .stopWaiting($0.id) }
        default:
            if pair.naive.producers.count >= mix.mostOperations { return nil }
            added += 1
            return .waitForRoom(added, mix.levels.randomElement(using: &random)!)
        }
    }

    private mutating func controlling() -> SchedulerEvent? {
        switch random.number(below: 21) {
        case 0: .shutDown(whenEmpty: random.happens(percent: 80))
        case 1..<8: .setWidth(Int.random(in: mix.widths, using: &random))
        case 8..<13: .setSuspended(true)
        case 13..<20: .setSuspended(false)
        default: .drain
        }
    }

    /// Returns the next event that brings the queue closer to its end; nil at the end. The queue alone decides which
    /// operation starts.
    private func closingEvent() -> SchedulerEvent? {
        if let dropped = pair.naive.operations.first(where: \.isDropped) { return .end(dropped.id) }
        if let waiting = pair.naive.operations.first(where: { $0.status == .waiting }) {
            return .setReady(waiting.id, true)
        }
        if let lent = pair.naive.operations.first(where: { $0.status == .lent }) { return .endWait(lent.id) }
        if pair.naive.nextReturn != nil { return .takeReturn }
        if pair.naive.nextStart != nil { return .start }
        if let tokens = pair.naive.tokens, tokens < NaiveScheduler.interval { return .passTime(5) }
        return pair.naive.operations.first { $0.status == .executing }.map { .end($0.id) }
    }

    private mutating func operation(where isFit: (NaiveScheduler.Operation) -> Bool) -> NaiveScheduler.Operation? {
        pair.naive.operations.filter(isFit).randomElement(using: &random)
    }
}
