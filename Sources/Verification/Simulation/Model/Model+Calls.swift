// Calls that take effect before they return.

extension Model {
    mutating func add(_ numbers: [Int], to queue: Int, isBarrier: Bool) {
        for number in numbers { add(number, to: queue, isBarrier: isBarrier) }
    }

    private mutating func add(_ number: Int, to queue: Int, isBarrier: Bool) {
        operations[number].wasSubmitted = true
        if operations[number].phase == .finished { return }
        if queues[queue].cancelsAdded { return cancel(number) }
        if queues[queue].intake == .shut { return finish(number, .queueShutDown) }
        if !isFull(queue) { return enter(number, queue, isBarrier: isBarrier) }
        guard let dropped = nextDropped(of: queue) else { return finish(number, .queueFull) }
        enter(number, queue, isBarrier: isBarrier)
        finish(dropped, .dropped)
    }

    /// Records that an operation is pending.
    mutating func enter(_ number: Int, _ queue: Int, isBarrier: Bool) {
        arrivals += 1
        operations[number].phase = .submitted
        operations[number].queue = queue
        operations[number].arrival = arrivals
        operations[number].isBarrier = isBarrier
    }

    mutating func cancel(_ number: Int) {
        if operations[number].phase == .finished || operations[number].isCancelled { return }
        operations[number].isCancelled = true
        if operations[number].phase < .executing { return finish(number, .cancelled) }
        for wait in operations[number].waits where !wait.isLending {
            if case .queue(let queue) = wait.target { cancelAll(queue, andAdded: true) }
        }
    }

    mutating func cancelAll(_ queue: Int, andAdded: Bool = false) {
        if andAdded { queues[queue].cancelsAdded = true }
        for number in unfinished(in: queue) { cancel(number) }
    }

    mutating func setSuspended(_ queue: Int, _ isSuspended: Bool) {
        queues[queue].isSuspended = isSuspended && !queues[queue].isClosing
        useRoom(of: queue)
    }

    mutating func setWidth(_ queue: Int, _ width: Int) {
        queues[queue].width = queues[queue].isClosing ? max(1, width) : width
        for number in operations.indices where operations[number].queue == queue {
            operations[number].highestWidth = max(operations[number].highestWidth, queues[queue].width)
        }
        useRoom(of: queue)
    }

    mutating func setLevel(_ number: Int, _ level: Int) {
        if operations[number].phase != .finished { operations[number].level = level }
    }

    mutating func addDependency(_ other: Int, to number: Int) {
        if !operations[number].dependencies.contains(other) { operations[number].dependencies.append(other) }
        // The operation becomes ready only when it detects the end of the dependency, even if the dependency has
        // already finished.
        if tellsDependentsLater { operations[number].isPerhapsUntold = true }
    }

    mutating func removeDependency(_ other: Int, of number: Int) {
        operations[number].dependencies.removeAll { $0 == other }
        if tellsDependentsLater { operations[number].isPerhapsUntold = true }
    }

    mutating func shutDown(_ queue: Int, isCancelling: Bool) {
        queues[queue].intake = .shut
        for number in queues[queue].waitingForRoom where operations[number].phase != .finished {
            finish(number, .queueShutDown)
        }
        queues[queue].waitingForRoom = []
        if isCancelling { cancelAll(queue) }
    }

    mutating func addHandler(to number: Int) {
        operations[number].awaitsHandler = true
    }
}

// MARK: - Ends

extension Model {
    mutating func finish(_ number: Int, _ outcome: Outcome) {
        operations[number].phase = .finished
        operations[number].outcome = outcome
        for other in operations.indices {
            if tellsDependentsLater, operations[other].dependencies.contains(number) {
                operations[other].isPerhapsUntold = true
            }
            for index in operations[other].waits.indices {
                if isOver(operations[other].waits[index]) { operations[other].waits[index].isOver = true }
            }
        }
        guard let queue = operations[number].queue else { return }
        useRoom(of: queue)
        if isEmpty(queue), queues[queue].intake == .openUntilEmpty { queues[queue].intake = .shut }
    }

    /// Records that no job is left to run: all dependents have been notified.
    mutating func noteQuiet() {
        for number in operations.indices { operations[number].isPerhapsUntold = false }
    }

    /// Whether the target of a wait has been reached. The wait of an open scope continues even if the queue is empty.
    private func isOver(_ wait: Wait) -> Bool {
        switch wait.target {
        case .operation(let other): operations[other].phase == .finished
        case .queue(let queue): wait.isLending && isEmpty(queue)
        }
    }
}
