import TaskOperations

// Policies of queues and operations, for half of the random programs.

extension Program {
    /// Adds policies to some queues and operations.
    mutating func addPolicies(from choices: inout some Choices) {
        for queue in queues.indices {
            queues[queue].order = choices.picks(percent: 40) ? .lastInFirstOut : .firstInFirstOut
        }
        if choices.picks(percent: 50) { boundQueues(from: &choices) }
        if choices.picks(percent: 40) {
            for number in operations.indices { operations[number].weight = choices.weight() }
        }
        if choices.picks(percent: 40) { shareLimits(from: &choices) }
        if choices.picks(percent: 40) { capLevels(from: &choices) }
        if choices.picks(percent: 40) { useTime(from: &choices) }
    }
}

// MARK: - Shared limits

extension Program {
    private mutating func shareLimits(from choices: inout some Choices) {
        for _ in 0...choices.number(below: 2) { semaphores.append(1 + choices.number(below: 2)) }
        for number in operations.indices {
            operations[number].limits = semaphores.indices.filter { _ in choices.picks(percent: 50) }
        }
    }
}

// MARK: - Caps

extension Program {
    /// Limits levels, mostly before the first addition.
    private mutating func capLevels(from choices: inout some Choices) {
        for _ in 0...choices.number(below: 3) {
            let queue = choices.number(below: queues.count)
            let level = choices.happens(percent: 50) ? 2 : choices.number(below: 5)
            let count = choices.pick([(5, { _ in 1 }), (3, { _ in 2 }), (2, { _ in 0 })])
            let call = Call.setCap(queue, level: level, count)
            steps.insert(.call(call), at: choices.picks(percent: 30) ? choices.number(below: steps.count + 1) : 0)
        }
    }
}

// MARK: - Time

extension Program {
    /// Adds rates to queues, and lets time pass, in the program and in bodies.
    private mutating func useTime(from choices: inout some Choices) {
        for queue in queues.indices {
            if choices.picks(percent: 60) {
                queues[queue].rate = Rate(interval: 1 + choices.number(below: 4), burst: 1 + choices.number(below: 3))
            }
        }
        for _ in 0...choices.number(below: 4) {
            steps.insert(advance(from: &choices), at: choices.number(below: steps.count + 1))
        }
        for number in operations.indices where choices.picks(percent: 30) {
            let place = choices.number(below: operations[number].steps.count + 1)
            operations[number].steps.insert(advance(from: &choices), at: place)
        }
    }

    private func advance(from choices: inout some Choices) -> Step { .call(.advance(1 + choices.number(below: 6))) }
}

// MARK: - Bounded queues

extension Program {
    private mutating func boundQueues(from choices: inout some Choices) {
        for queue in queues.indices where choices.picks(percent: 70) {
            queues[queue].pendingLimit = 1 + choices.number(below: 3)
            queues[queue].overflow = choices.pick([(1, { _ in .reject }), (1, { _ in .dropOldest })])
        }
        if choices.picks(percent: 50) { waitForRoom(from: &choices) }
        if choices.picks(percent: 50) {
            let call = Call.setPendingLimit(choices.number(below: queues.count), 1 + choices.number(below: 4))
            steps.insert(.call(call), at: choices.number(below: steps.count + 1))
        }
    }

    /// Makes most additions of the program wait for room.
    ///
    /// A cycle through such an addition is detected only when the queue has room. So in this case no step awaits a
    /// queue or adds a barrier, and scopes are not considered.
    private mutating func waitForRoom(from choices: inout some Choices) {
        removeWaitsForQueues()
        for index in steps.indices {
            guard case .call(.add(let numbers, let queue)) = steps[index], numbers.count == 1,
                !queues[queue].isScope, choices.picks(percent: 80)
            else { continue }
            steps[index] = .addWaiting(numbers[0], to: queue)
        }
        if choices.picks(percent: 50) { addAtTheSameTime() }
    }

    /// Lets several tasks perform the additions that wait for room.
    private mutating func addAtTheSameTime() {
        guard let first = steps.firstIndex(where: \.isAddWaiting) else { return }
        var lists: [[Step]] = [[], [], []]
        for (index, step) in steps.filter(\.isAddWaiting).enumerated() { lists[index % lists.count].append(step) }
        steps.removeAll(where: \.isAddWaiting)
        steps.insert(.children(lists.filter { !$0.isEmpty }), at: first)
    }

    private mutating func removeWaitsForQueues() {
        steps = steps.map(\.withoutWaitForQueue)
        for number in operations.indices {
            operations[number].steps = operations[number].steps.map(\.withoutWaitForQueue)
        }
    }
}

extension Step {
    fileprivate var isAddWaiting: Bool {
        if case .addWaiting = self { true } else { false }
    }

    /// The step, or a replacement if the step awaits a whole queue or makes operations of a queue wait for each other.
    fileprivate var withoutWaitForQueue: Step {
        switch self {
        case .call(.addBarrier(let number, let queue)): .call(.add([number], to: queue))
        case .awaitAll: .yield
        case .children(let lists): .children(lists.map { $0.map(\.withoutWaitForQueue) })
        case .scope(let queue, let steps): .scope(queue, steps.map(\.withoutWaitForQueue))
        case .yield, .call, .await, .addWaiting, .checkCancellation, .fail: self
        }
    }
}

extension Choices {
    /// A random weight. It is mostly 1, and seldom more than the width of any queue.
    fileprivate mutating func weight() -> Int {
        pick([(5, { _ in 1 }), (3, { _ in 2 }), (1, { _ in 3 }), (1, { _ in 5 })])
    }

    /// Like `happens(percent:)`, but returns false for the number 0, which `ByteChoices` returns endlessly after the
    /// last byte.
    fileprivate mutating func picks(percent: Int) -> Bool { number(below: 100) >= 100 - percent }
}
