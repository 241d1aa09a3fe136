@testable import TaskOperations

/// What can happen to a queue.
enum SchedulerEvent {
    case add(Int, PriorityLevel, isBarrier: Bool, weight: Int)
    case setReady(Int, Bool)
    case setLevel(Int, PriorityLevel)
    case setWidth(Int)
    case setSuspended(Bool)
    case drain
    /// Whatever is next starts.
    case start
    /// A worker of this level asks what to start.
    case startAt(PriorityLevel)
    case refuse(Int)
    case end(Int)
    /// An operation that executes ends, and what comes up starts in its place.
    case handOver(Int)
    case beginWait(Int)
    case endWait(Int)
    /// Whoever is next has its permit back.
    case takeReturn
    case shutDown(whenEmpty: Bool)
    /// A wait for the end of all begins to hand a level on.
    case endInherits(PriorityLevel)
    /// It no longer does.
    case endDisinherits(PriorityLevel)
}

/// A `SchedulerState` and a `NaiveScheduler` to which the same happens.
struct SideBySide {
    private(set) var state: SchedulerState<Int, Int>
    private(set) var naive: NaiveScheduler
    private var slots: [Int: Int] = [:]
    private(set) var starts = 0
    /// The floor of each operation, as far as the state has told to look at it.
    private var floors: [Int: PriorityLevel] = [:]

    init(width: Int, isSuspended: Bool, order: OperationOrder) {
        state = SchedulerState(width: width, isSuspended: isSuspended, order: order)
        naive = NaiveScheduler(width: width, isSuspended: isSuspended, order: order)
    }

    /// Has it happen to both.
    ///
    /// - Throws: `Disagreement` if they answer differently.
    mutating func apply(_ event: SchedulerEvent) throws(Disagreement) {
        defer { lookAtFloors() }
        switch event {
        case .add(let id, let level, let isBarrier, let weight):
            slots[id] = state.add(id, level: level, isBarrier: isBarrier, weight: weight)!
            naive.operations.append(.init(id: id, isBarrier: isBarrier, level: level, weight: weight))
        case .setReady(let id, let isReady):
            state.setReady(slots[id]!, isReady)
            naive.setReady(id, isReady)
        case .setLevel(let id, let level):
            state.setLevel(slots[id]!, level)
            naive[id].level = level
        case .setWidth(let width):
            state.setWidth(width)
            naive.setWidth(width)
        case .setSuspended(let isSuspended):
            state.setSuspended(isSuspended)
            naive.setSuspended(isSuspended)
        case .drain:
            state.drain()
            naive.drain()
        case .end(let id):
            try agree(on: "what has left", state.end(slots.removeValue(forKey: id)!), id)
            naive.end(id)
        case .shutDown(let whenEmpty):
            state.setIntake(whenEmpty ? .closing : .shut)
            naive.shutDown(whenEmpty: whenEmpty)
        case .endInherits(let level):
            state.endInherits(from: nil, to: level)
            naive.endLevels.append(level)
        case .endDisinherits(let level):
            state.endInherits(from: level, to: nil)
            naive.endLevels.remove(at: naive.endLevels.firstIndex(of: level)!)
        case .start, .startAt, .refuse, .handOver:
            try applyStart(event)
        case .beginWait, .endWait, .takeReturn:
            try applyLending(event)
        }
    }

    private mutating func lookAtFloors() {
        for id in state.takeOutbox().newFloors { floors[id] = slots[id].map { state.floor(of: $0) } }
    }

    private mutating func applyStart(_ event: SchedulerEvent) throws(Disagreement) {
        switch event {
        case .start:
            let level = naive.nextStart.map { naive.level(of: $0) }
            try agree(on: "the next level", state.nextLevel, level)
            if let level { try start(at: level) }
        case .startAt(let level):
            try start(at: level)
        case .refuse(let id):
            state.refuseStart(slots[id]!)
            naive[id].status = .waiting
        case .handOver(let id):
            let level = state.upcoming(1)!.level
            naive.end(id)
            try agree(on: "the level that comes up", level, naive.nextStart?.level)
            try agree(on: "what has left", state.handOver(slots.removeValue(forKey: id)!, at: level), id)
            naive[naive.nextStart!.id].status = .executing
            starts += 1
        default:
            preconditionFailure("\(event) is no start")
        }
    }

    private mutating func start(at level: PriorityLevel) throws(Disagreement) {
        let next = naive.nextStart
        let expected = next.map { naive.level(of: $0) } == level ? next?.id : nil
        try agree(on: "the next start", state.nextStart(at: level), expected.map { slots[$0]! })
        if let expected {
            naive[expected].status = .executing
            starts += 1
        }
    }

    private mutating func applyLending(_ event: SchedulerEvent) throws(Disagreement) {
        switch event {
        case .beginWait(let id):
            state.beginWait(slots[id]!)
            try agree(on: "what goes on", state.takeOutbox().resumed, naive.beginWait(id))
        case .endWait(let id):
            state.endWait(slots[id]!, id)
            try agree(on: "what goes on", state.takeOutbox().resumed, naive.endWait(id))
        case .takeReturn:
            let expected = naive.nextReturn?.id
            try agree(on: "the next return", state.nextReturn(), expected.map { slots[$0]! })
            try agree(on: "what goes on", state.takeOutbox().resumed, expected.map { [$0] } ?? [])
            if let expected { naive[expected].status = .executing }
        default:
            preconditionFailure("\(event) is no lending")
        }
    }
}

// MARK: - Comparing

/// What the state and the plain model of it do not agree on.
struct Disagreement: Error, CustomStringConvertible {
    let description: String
}

extension SideBySide {
    /// Compares all that can be asked.
    ///
    /// - Throws: `Disagreement`.
    func compare() throws(Disagreement) {
        try agree(on: "the next level", state.nextLevel, naive.nextStart.map { naive.level(of: $0) })
        try agree(on: "how many can start", state.startableCount, naive.startableCount)
        try agree(on: "the elements", state.elements, naive.operations.map(\.id))
        try agree(on: "whether it is empty", state.isEmpty, naive.operations.isEmpty)
        try agree(on: "the width", state.permits.capacity, naive.width)
        try agree(on: "whether it is suspended", state.isSuspended, naive.isSuspended)
        try agree(on: "the intake", state.intake, naive.intake)
        let barriers = naive.operations.filter(\.isBarrier).map(\.id)
        try agree(
            on: "what holds back the next", state.elementsHoldingBackNext(isBarrier: false), Array(barriers.suffix(1)))
        for operation in naive.operations {
            let record = state.records[slots[operation.id]!]
            try agree(on: "the status of \(operation.id)", record.status, operation.status)
            try agree(on: "the level of \(operation.id)", record.level, operation.level)
            let level = max(operation.level, floors[operation.id] ?? .background)
            try agree(on: "the level of \(operation.id) and what waits", level, naive.level(of: operation))
            let holdingBack = state.elementsHoldingBack(slots[operation.id]!).sorted()
            try agree(on: "what holds \(operation.id) back", holdingBack, naive.nearestHoldingBack(operation.id))
        }
        let violations = state.violations
        if !violations.isEmpty { throw Disagreement(description: violations.joined(separator: "; ")) }
    }

    private func agree<Answer: Equatable>(
        on subject: String, _ answer: Answer, _ expected: Answer
    ) throws(Disagreement) {
        if answer != expected {
            throw Disagreement(description: "\(subject) is \(answer), and ought to be \(expected)")
        }
    }
}
