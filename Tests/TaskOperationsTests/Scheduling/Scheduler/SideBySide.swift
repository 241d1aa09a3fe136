@testable import TaskOperations

/// The events of a queue.
enum SchedulerEvent {
    case add(Int, PriorityLevel, isBarrier: Bool, weight: Int)
    case setReady(Int, Bool)
    case setLevel(Int, PriorityLevel)
    case setWidth(Int)
    case setSuspended(Bool)
    case drain
    /// The next operation starts.
    case start
    /// A worker of this level requests its next operation.
    case startAt(PriorityLevel)
    case end(Int)
    /// An executing operation ends, and the next one takes its permit and starts.
    case beginWait(Int)
    case endWait(Int)
    /// The next operation that waits for its permit gets the permit back.
    case takeReturn
    case shutDown(whenEmpty: Bool)
    /// A task waits for room for an operation.
    case waitForRoom(Int, PriorityLevel)
    /// The task stops waiting for room.
    case stopWaiting(Int)
    case setQueuedLimit(Int)
    case setCap(Int, PriorityLevel)
    case passTime(Int)
    /// A wait for the end of all operations begins to pass on its level.
    case idleWaitersChanged(PriorityLevel)
    /// A wait for the end of all operations stops passing on its level.
    case endDisinherits(PriorityLevel)
}

/// A `SchedulerState` and a `NaiveScheduler` that receive the same events.
struct SideBySide {
    private(set) var state: SchedulerState<Int, Int>
    private(set) var naive: NaiveScheduler
    private var slots: [Int: Int] = [:]
    private(set) var starts = 0
    /// The floor of each operation, updated only when the state reports a change.
    private var floors: [Int: PriorityLevel] = [:]

    private var looks = 0

    init(_ configuration: TaskOperationQueue.Configuration) {
        state = SchedulerState(configuration)
        naive = NaiveScheduler(configuration)
    }

    /// Applies an event to both.
    ///
    /// - Throws: `Disagreement` if the two answer differently.
    mutating func apply(_ event: SchedulerEvent) throws(Disagreement) {
        defer { lookAtFloors() }
        switch event {
        case .add(let id, let level, let isBarrier, let weight):
            let slot = state.add(id, level: level, isBarrier: isBarrier, weight: weight)
            if let slot { slots[id] = slot }
            let outbox = state.takeEffects()
            lookAtFloors(outbox.floorChanges)
            let (isTaken, dropped) = naive.add(.init(id: id, isBarrier: isBarrier, level: level, weight: weight))
            try agree(on: "whether it is taken", slot != nil, isTaken)
            try agree(on: "what finds no room", outbox.rejected(.full), isTaken ? [] : [id])
            try agree(on: "what gives way", outbox.rejected(.dropped), dropped.map { [$0] } ?? [])
        case .waitForRoom, .stopWaiting, .setQueuedLimit:
            try applyRoom(event)
        case .setReady(let id, let isReady):
            state.setReady(slots[id]!, isReady)
            naive.setReady(id, isReady)
        case .setLevel(let id, let level):
            state.setLevel(slots[id]!, level)
            naive[id].level = level
        case .setWidth(let width):
            state.setWidth(width)
            naive.setWidth(width)
        case .passTime(let duration):
            naive.passTime(duration)
            state.advance(to: .seconds(naive.time))
        case .setCap(let cap, let level):
            state.setCap(cap, at: level)
            naive.caps[level] = naive.isDraining ? max(1, cap) : cap
        case .setSuspended(let isSuspended):
            state.setSuspended(isSuspended)
            naive.setSuspended(isSuspended)
        case .drain:
            state.drain()
            naive.drain()
        case .end(let id):
            try agree(on: "what has left", state.end(slots.removeValue(forKey: id)!), id)
            state.shutIfEmpty()
            naive.end(id)
        case .shutDown(let whenEmpty):
            state.setAdmission(whenEmpty ? .closing : .shut)
            let outbox = state.takeEffects()
            try agree(on: "what waited for room", outbox.resumed, whenEmpty ? [] : naive.producers.map(\.id))
            try agree(on: "what comes too late", outbox.rejected(.shutDown), outbox.resumed)
            naive.shutDown(whenEmpty: whenEmpty)
        case .idleWaitersChanged(let level):
            state.idleWaitersChanged(from: nil, to: level)
            naive.endLevels.append(level)
        case .endDisinherits(let level):
            state.idleWaitersChanged(from: level, to: nil)
            naive.endLevels.remove(at: naive.endLevels.firstIndex(of: level)!)
        case .start, .startAt:
            try applyStart(event)
        case .beginWait, .endWait, .takeReturn:
            try applyLending(event)
        }
    }

    private mutating func lookAtFloors() { lookAtFloors(state.takeEffects().floorChanges) }

    private mutating func lookAtFloors(_ ids: [Int]) {
        for id in ids { floors[id] = slots[id].map { state.floor(of: $0) } }
    }

    /// Adds the operations that wait for room, until there is no more room.
    mutating func admit() throws(Disagreement) {
        while true {
            let next = state.nextAdmission()
            let outbox = state.takeEffects()
            lookAtFloors(outbox.floorChanges)
            let expected = naive.nextAdmission
            try agree(on: "what is added next of what waits for room", next, expected?.id)
            try agree(on: "the task that goes on", outbox.resumed, expected.map { [$0.id] } ?? [])
            guard let expected else { return }
            slots[expected.id] = state.add(expected.id, level: expected.level)!
            naive.admit()
            lookAtFloors()
        }
    }

    private mutating func applyRoom(_ event: SchedulerEvent) throws(Disagreement) {
        switch event {
        case .waitForRoom(let id, let level):
            state.waitForRoom(id, id, number: id)
            naive.producers.append(.init(id: id, isBarrier: false, level: level))
        case .stopWaiting(let id):
            try agree(on: "whether it waited", state.stopWaitingForRoom(id), true)
            try agree(on: "the task that goes on", state.takeEffects().resumed, [id])
            naive.producers.removeAll { $0.id == id }
        case .setQueuedLimit(let limit):
            state.setQueuedLimit(limit)
            naive.queuedLimit = limit
        default:
            preconditionFailure("\(event) has nothing to do with room")
        }
    }

    private mutating func applyStart(_ event: SchedulerEvent) throws(Disagreement) {
        switch event {
        case .start:
            let level = naive.nextStart.map { naive.level(of: $0) }
            try agree(on: "the next level", state.peekedLevel, level)
            if let level { try start(at: level) }
        case .startAt(let level):
            try start(at: level)
        default:
            preconditionFailure("\(event) is no start")
        }
    }

    private mutating func start(at level: PriorityLevel) throws(Disagreement) {
        let next = naive.nextStart
        let expected = next.map { naive.level(of: $0) } == level ? next?.id : nil
        try agree(on: "the next start", state.nextStart(at: level), expected.map { slots[$0]! })
        if let expected {
            naive.start(expected)
            starts += 1
        }
    }

    private mutating func applyLending(_ event: SchedulerEvent) throws(Disagreement) {
        switch event {
        case .beginWait(let id):
            state.lend(slots[id]!)
            try agree(on: "what goes on", state.takeEffects().resumed, naive.beginWait(id))
        case .endWait(let id):
            state.endWait(slots[id]!, id, isLast: naive[id].waits == 1)
            try agree(on: "what goes on", state.takeEffects().resumed, naive.endWait(id))
        case .takeReturn:
            let expected = naive.nextReturn?.id
            try agree(on: "the next return", state.nextReturn(), expected.map { slots[$0]! })
            try agree(on: "what goes on", state.takeEffects().resumed, expected.map { [$0] } ?? [])
            if let expected { naive[expected].status = .executing }
        default:
            preconditionFailure("\(event) is no lending")
        }
    }
}

// MARK: - Comparing

/// A difference between the state and the naive scheduler.
struct Disagreement: Error, CustomStringConvertible {
    let description: String
}

extension SideBySide {
    /// Compares all properties of both.
    ///
    /// - Throws: `Disagreement`.
    mutating func compare() throws(Disagreement) {
        try agree(on: "the next level", state.peekedLevel, naive.nextStart.map { naive.level(of: $0) })
        try agree(on: "how many can start", state.startableCount, naive.startableCount)
        try agree(on: "the elements", state.elements, naive.operations.filter { !$0.isDropped }.map(\.id))
        try agree(on: "whether it is empty", state.isEmpty, naive.operations.isEmpty)
        try agree(on: "the width", state.width.capacity, naive.width)
        try agree(on: "whether it is suspended", state.isSuspended, naive.isSuspended)
        try agree(on: "the admission", state.admission.state, naive.admission)
        try agree(on: "how many are pending", state.queuedCount, naive.queuedCount)
        try agree(on: "how many wait for room", state.admission.producers.count, naive.producers.count)
        let barriers = naive.operations.filter(\.isBarrier).map(\.id)
        try agree(
            on: "what holds back the next", state.elementsHoldingBackNext(isBarrier: false), Array(barriers.suffix(1)))
        for operation in naive.operations {
            let record = state.rows[slots[operation.id]!]
            try agree(on: "the status of \(operation.id)", record.status, operation.status)
            try agree(on: "the level of \(operation.id)", record.level, operation.level)
            if operation.isDropped { continue }
            let level = max(operation.level, floors[operation.id] ?? .background)
            try agree(on: "the level of \(operation.id) and what waits", level, naive.level(of: operation))
            let holdingBack = state.elementsHoldingBack(slots[operation.id]!).sorted()
            try agree(on: "what holds \(operation.id) back", holdingBack, naive.nearestHoldingBack(operation.id))
        }
        looks += 1
        // The reasons are checked only every eighth time, because this check takes longer than all others together.
        let violations = state.violations + (looks.isMultiple(of: 8) ? state.reasonViolations : [])
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
