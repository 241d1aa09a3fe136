@testable import TaskOperations

extension SmallQueue {
    enum Event: Sendable {
        case add(Int)
        /// The queue checks whether an operation is ready, after it was told that the readiness may have changed.
        case look(Int)
        /// A worker requests an operation to run.
        case start
        /// A body returns.
        case finish(Int)
        /// The queue learns that an operation has ended.
        case leave(Int)
        case cancel(Int)
        /// An operation that was dropped for another one ends.
        case endDropped(Int)
        case setSuspended(Bool)
        case setWidth(Int)
        case setCap(Int)
        case drain
        case setLevel(Int, PriorityLevel)
        case depend(Int, on: Int)
        case undepend(Int, on: Int)
        /// A body begins to await another operation.
        case beginWait(Int, Int)
        case endWait(Int, Int)
        case shutDown(whenEmpty: Bool)
        /// The time advances by one step.
        case pass
    }
}

extension SmallQueue: Explorable {
    var isEnd: Bool { state.isEmpty && operations.allSatisfy { $0.phase == .finished } }

    func isProgress(_ event: Event) -> Bool {
        switch event {
        case .add, .look, .start, .leave, .endWait, .endDropped, .setSuspended(false), .setCap(2), .pass: true
        // A body may end before its own waits have ended, but no rule may rely on it, so it is no progress.
        case .finish(let number): status(number) == .executing
        case .cancel, .setSuspended, .setWidth, .setCap, .drain, .setLevel, .depend, .undepend, .beginWait,
            .shutDown:
            false
        }
    }

    func status(_ number: Int) -> SchedulerState<Int, Int>.Status? {
        operations[number].slot.map { state.rows[$0].status }
    }

    // MARK: Events

    var events: [Event] {
        var events: [Event] = []
        if added < operations.count { events.append(.add(added)) }
        if state.peekedLevel != nil { events.append(.start) }
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
            for width in plan.widths where width != state.width.capacity { events.append(.setWidth(width)) }
        }
        if plan.kinds.contains(.caps) {
            for cap in 0...2 where cap != mediumCap { events.append(.setCap(cap)) }
        }
        if tokens < Self.burst { events.append(.pass) }
        if plan.kinds.contains(.shuttingDown), state.admission.state != .shut {
            events.append(.shutDown(whenEmpty: false))
            if state.admission.state == .open { events.append(.shutDown(whenEmpty: true)) }
        }
        return events
    }

    private func appendEvents(of number: Int, to events: inout [Event]) {
        let operation = operations[number]
        switch operation.phase {
        case .made, .pending, .producing: if plan.kinds.contains(.cancelling) { events.append(.cancel(number)) }
        case .executing: events.append(.finish(number))
        case .finished: if operation.slot != nil { events.append(.leave(number)) }
        }
        guard let slot = operation.slot else { return }
        if operation.phase == .pending, isDropped(operation) { events.append(.endDropped(number)) }
        let record = state.rows[slot]
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
            } else if plan.mayDepend(number, on: other), operations[other].phase != .finished,
                !reaches(number, from: NumberSet(other))
            {
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

    // MARK: Effects

    mutating func apply(_ event: Event) {
        switch event {
        case .add(let number): add(number)
        case .look(let number): state.setReady(operations[number].slot!, isReady(number))
        case .start: start()
        case .finish(let number), .endDropped(let number): finish(number)
        case .cancel(let number): cancel(number)
        case .leave(let number): leave(number)
        case .setSuspended(let isSuspended): state.setSuspended(isSuspended)
        case .setWidth(let width): state.setWidth(width)
        case .setCap(let cap): state.setCap(cap, at: .medium)
        case .drain: state.drain()
        case .shutDown(let whenEmpty):
            state.setAdmission(whenEmpty ? .closing : .shut)
            for number in state.takeEffects().rejected(.shutDown) { finish(number) }
        case .setLevel(let number, let level):
            operations[number].levelChanges -= 1
            state.setLevel(operations[number].slot!, level)
        case .depend(let number, let other):
            edgeChanges -= 1
            operations[number].dependencies.insert(other)
            if let slot = operations[number].slot { state.setReady(slot, false) }
        case .undepend(let number, let other):
            edgeChanges -= 1
            operations[number].dependencies.remove(other)
        case .beginWait(let number, let other): beginWait(number, other)
        case .endWait(let number, let other): endWait(number, other)
        case .pass: pass()
        }
        admit()
        takeReturns()
        state.shutIfEmpty()
        // The effects were applied already, or do not affect the state.
        _ = state.takeEffects()
    }

    /// Adds an operation. An operation that is already cancelled is accepted and leaves at once. The queue refuses an
    /// operation that could never end.
    private mutating func add(_ number: Int) {
        added += 1
        if state.admission.state == .shut { return finish(number) }
        if operations[number].phase == .finished {
            // An operation that has ended needs no room.
            if state.isFull { return }
            return state.remove(state.add(number, isBarrier: plan.barriers.contains(number))!)
        }
        if reaches(number, from: barriers(before: number)) { return finish(number) }
        if state.isFull, plan.overflow == .reject {
            operations[number].phase = .producing
            return state.waitForRoom(number, number, number: number)
        }
        enter(number)
    }

    /// Adds the operations that wait for room, until the queue is full.
    private mutating func admit() {
        while let number = state.nextAdmission() {
            _ = state.takeEffects()
            if operations[number].phase == .producing, !reaches(number, from: barriers(before: number)) {
                enter(number)
            } else {
                finish(number)
            }
        }
    }

    private mutating func enter(_ number: Int) {
        let pending = operations.indices.filter { status($0).map { $0 == .waiting || $0 == .ready } ?? false }
        operations[number].phase = .pending
        operations[number].slot = state.add(
            number, isReady: isReady(number), isBarrier: plan.barriers.contains(number))
        let dropped = state.takeEffects().rejected(.dropped)
        if plan.kinds.contains(.room), !dropped.allSatisfy(pending.contains) {
            faults.append("\(dropped) gave way of \(pending)")
        }
    }

    func isDropped(_ operation: Operation) -> Bool {
        operation.slot.map { state.finishing.contains($0) } ?? false
    }

    private mutating func cancel(_ number: Int) {
        if operations[number].phase == .producing {
            let hasWaited = state.stopWaitingForRoom(number)
            if !hasWaited || state.takeEffects().resumed != [number] { faults.append("\(number) did not wait") }
        }
        let hasStarted = operations[number].phase == .executing
        finish(number)
        // An operation ends before its start, and leaves the queue, in one step.
        if !hasStarted, operations[number].slot != nil { leave(number) }
    }

    private mutating func start() {
        checkStart()
        let slot = state.nextStart(at: state.peekedLevel!)!
        let number = state.rows[slot].element
        if !isReady(number) { faults.append("\(number) starts and must wait") }
        operations[number].phase = .executing
        if plan.kinds.contains(.rate) { tokens -= 1 }
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
        let continues = status(number) == .returning ? [number] : []
        state.lend(operations[number].slot!)
        let resumed = state.takeEffects().resumed
        if resumed != continues { faults.append("\(resumed) went on without a permit, not \(continues)") }
    }

    private mutating func endWait(_ number: Int, _ other: Int) {
        operations[number].awaited.remove(other)
        state.endWait(operations[number].slot!, number, isLast: operations[number].awaited.isEmpty)
        let continues = state.takeEffects().resumed == [number]
        if continues == operations[number].awaited.isEmpty {
            faults.append("continues without its permit: \(continues)")
        }
    }

    private func isOpen(_ level: PriorityLevel) -> Bool {
        state.permits.caps.map { $0[level].available > 0 || $0[level].taken == 0 } ?? true
    }

    /// The number of medium-level operations that may execute at once.
    var mediumCap: Int { min(3, state.permits.caps?[.medium].capacity ?? .max) }

    /// Returns permits to the operations that can get them back, in the same step.
    private mutating func takeReturns() {
        while !state.returning.isEmpty {
            let wanting = state.rows.all.filter { $0.status == .returning && isOpen($0.level) }
            let level = state.width.available > 0 ? wanting.map(\.level).max() : nil
            let expected = wanting.filter { $0.level == level }.map(\.element).min()
            let next = state.nextReturn().map { state.rows[$0].element }
            if next != expected {
                faults.append("\(next, default: "nothing") returns, not \(expected, default: "nothing")")
            }
            if next == nil { return }
        }
    }
}
