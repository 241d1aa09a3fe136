@testable import TaskOperations

extension SmallQueue {
    enum Event: Sendable {
        case add(Int)
        /// The queue looks whether an operation is ready, having been told that this may have changed.
        case look(Int)
        /// A worker asks for something to run.
        case start
        /// A worker whose operation has ended takes what comes next, without a word to the queue.
        case take(inPlaceOf: Int)
        /// The worker looks whether what it took can start.
        case begin(Int)
        /// A body is done.
        case finish(Int)
        /// The queue learns that an operation has ended.
        case leave(Int)
        case cancel(Int)
        case setSuspended(Bool)
        case setWidth(Int)
        case drain
        case setLevel(Int, PriorityLevel)
        case depend(Int, on: Int)
        case undepend(Int, on: Int)
        /// A body begins to await another operation.
        case beginWait(Int, Int)
        case endWait(Int, Int)
        case shutDown(whenEmpty: Bool)
    }
}

extension SmallQueue: Explorable {
    var isEnd: Bool { state.isEmpty && operations.allSatisfy { $0.phase == .finished } }

    func isProgress(_ event: Event) -> Bool {
        switch event {
        case .add, .look, .start, .begin, .leave, .endWait, .setSuspended(false): true
        // A body that ends before its own waits have is possible, but nothing to rely on.
        case .finish(let number): status(number) == .executing
        case .take, .cancel, .setSuspended, .setWidth, .drain, .setLevel, .depend, .undepend, .beginWait, .shutDown:
            false
        }
    }

    func status(_ number: Int) -> SchedulerState<Int, Int>.Status? {
        operations[number].slot.map { state.records[$0].status }
    }

    // MARK: What can happen

    var events: [Event] {
        var events: [Event] = []
        if added < operations.count { events.append(.add(added)) }
        if state.nextLevel != nil { events.append(.start) }
        for number in operations.indices {
            appendEvents(of: number, to: &events)
            if plan.kinds.contains(.edges) { appendEdges(of: number, to: &events) }
            if plan.kinds.contains(.waits) { appendWaits(of: number, to: &events) }
        }
        if plan.kinds.contains(.suspending) {
            events.append(.setSuspended(!state.isSuspended))
            if !state.isDraining { events.append(.drain) }
        }
        if plan.kinds.contains(.widths) {
            for width in plan.widths where width != state.permits.capacity { events.append(.setWidth(width)) }
        }
        if plan.kinds.contains(.shuttingDown), state.intake != .shut {
            events.append(.shutDown(whenEmpty: false))
            if state.intake == .open { events.append(.shutDown(whenEmpty: true)) }
        }
        return events
    }

    private func appendEvents(of number: Int, to events: inout [Event]) {
        let operation = operations[number]
        switch operation.phase {
        case .made, .pending, .taken: if plan.kinds.contains(.cancelling) { events.append(.cancel(number)) }
        case .executing: events.append(.finish(number))
        case .finished: if operation.slot != nil { events.append(.leave(number)) }
        }
        if operation.phase == .taken { events.append(.begin(number)) }
        if operation.phase == .finished, status(number) == .executing, comingUp != nil {
            events.append(.take(inPlaceOf: number))
        }
        guard let slot = operation.slot else { return }
        let record = state.records[slot]
        if record.status == .waiting || record.status == .ready, (record.status == .ready) != isReady(number) {
            events.append(.look(number))
        }
        if plan.kinds.contains(.levels), operation.levelChanges > 0 {
            events.append(.setLevel(number, record.level == .medium ? .high : .medium))
        }
    }

    private func appendEdges(of number: Int, to events: inout [Event]) {
        guard edgeChanges > 0, operations[number].phase.mayStart else { return }
        for other in operations.indices {
            if operations[number].dependencies.contains(other) {
                events.append(.undepend(number, on: other))
            } else if operations[other].phase != .finished, !reaches(number, from: NumberSet(other)) {
                events.append(.depend(number, on: other))
            }
        }
    }

    private func appendWaits(of number: Int, to events: inout [Event]) {
        guard operations[number].phase == .executing else { return }
        for other in operations.indices {
            if operations[number].awaited.contains(other) {
                if operations[other].phase == .finished { events.append(.endWait(number, other)) }
            } else if waits > 0, operations[other].phase != .finished, !reaches(number, from: NumberSet(other)) {
                events.append(.beginWait(number, other))
            }
        }
    }

    // MARK: What comes of it

    mutating func apply(_ event: Event) {
        switch event {
        case .add(let number): add(number)
        case .look(let number): state.setReady(operations[number].slot!, isReady(number))
        case .start: start()
        case .take(let number): take(inPlaceOf: number)
        case .begin(let number): begin(number)
        case .finish(let number), .cancel(let number): finish(number)
        case .leave(let number): leave(number)
        case .setSuspended(let isSuspended): state.setSuspended(isSuspended)
        case .setWidth(let width): state.setWidth(width)
        case .drain: state.drain()
        case .shutDown(let whenEmpty): state.setIntake(whenEmpty ? .closing : .shut)
        case .setLevel(let number, let level):
            operations[number].levelChanges -= 1
            state.setLevel(operations[number].slot!, level)
        case .depend(let number, let other):
            edgeChanges -= 1
            operations[number].dependencies.insert(other)
        case .undepend(let number, let other):
            edgeChanges -= 1
            operations[number].dependencies.remove(other)
        case .beginWait(let number, let other): beginWait(number, other)
        case .endWait(let number, let other): endWait(number, other)
        }
        takeReturns()
        // What is in there now was looked at, or is of no consequence for the state.
        _ = state.takeOutbox()
    }

    /// One that was cancelled before is taken and gone at once; one that nothing would ever let go is refused.
    private mutating func add(_ number: Int) {
        added += 1
        if state.intake == .shut { return finish(number) }
        if operations[number].phase == .finished {
            return state.remove(state.add(number, isBarrier: plan.barriers.contains(number))!)
        }
        if reaches(number, from: barriers(before: number)) { return finish(number) }
        operations[number].phase = .pending
        operations[number].slot = state.add(
            number, isReady: isReady(number), isBarrier: plan.barriers.contains(number))
    }

    private mutating func start() {
        let slot = state.nextStart(at: state.nextLevel!)!
        let number = state.records[slot].element
        if operations[number].phase == .finished {
            leave(number)
        } else if isReady(number) {
            operations[number].phase = .executing
        } else {
            state.refuseStart(slot)
        }
    }

    private mutating func take(inPlaceOf number: Int) {
        let (next, level) = comingUp!
        let left = state.handOver(operations[number].slot!, at: level)
        operations[number].slot = nil
        operations[next].phase = .taken
        if left != number { faults.append("\(left) left, not \(number)") }
        if status(next) != .executing { faults.append("\(next) is \(status(next), default: "gone") and was taken") }
    }

    /// What starts for certain once something ends.
    private var comingUp: (number: Int, level: PriorityLevel)? {
        guard let (level, entries) = state.upcoming(1), let entry = entries.first else { return nil }
        return (state.records[entry.slot].element, level)
    }

    private mutating func begin(_ number: Int) {
        if isReady(number) {
            operations[number].phase = .executing
        } else {
            operations[number].phase = .pending
            state.refuseStart(operations[number].slot!)
            state.setReady(operations[number].slot!, isReady(number))
        }
    }

    private mutating func finish(_ number: Int) {
        operations[number].phase = .finished
        operations[number].dependencies = NumberSet()
        operations[number].awaited = NumberSet()
    }

    private mutating func leave(_ number: Int) {
        state.remove(operations[number].slot!)
        operations[number].slot = nil
    }

    private mutating func beginWait(_ number: Int, _ other: Int) {
        waits -= 1
        operations[number].awaited.insert(other)
        let goesOn = status(number) == .returning ? [number] : []
        state.beginWait(operations[number].slot!)
        let resumed = state.takeOutbox().resumed
        if resumed != goesOn { faults.append("\(resumed) went on without a permit, not \(goesOn)") }
    }

    private mutating func endWait(_ number: Int, _ other: Int) {
        operations[number].awaited.remove(other)
        state.endWait(operations[number].slot!, number)
        let goesOn = state.takeOutbox().resumed == [number]
        if goesOn == operations[number].awaited.isEmpty { faults.append("goes on without its permit: \(goesOn)") }
    }

    /// Whoever can have its permit back takes it within the same step.
    private mutating func takeReturns() {
        while !state.returning.isEmpty {
            let wanting = state.records.all.filter { $0.status == .returning }
            let level = state.permits.available > 0 ? wanting.map(\.level).max() : nil
            let expected = wanting.filter { $0.level == level }.map(\.element).min()
            let next = state.nextReturn().map { state.records[$0].element }
            if next != expected {
                faults.append("\(next, default: "nothing") returns, not \(expected, default: "nothing")")
            }
            if next == nil { return }
        }
    }
}
