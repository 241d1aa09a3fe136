import TaskOperations

// Events that the library causes, and the checks whether they are allowed.

extension Model {
    /// Records that a body begins.
    ///
    /// - Parameter levels: The priorities by which the library orders operations, by operation.
    mutating func begin(_ number: Int, levels: [Int]) {
        let operation = operations[number]
        operations[number].bodies += 1
        check(operation.bodies == 0, "operation \(number) began twice")
        check(operation.phase == .submitted, "operation \(number) began while \(operation.phase)")
        guard operation.phase == .submitted, let queue = operation.queue else { return }
        check(isReady(number), "operation \(number) began before \(unfinishedDependencies(of: number))")
        check(!lacksInput(number), "operation \(number) began without its input")
        check(heldBack(number).isEmpty, "operation \(number) overtook a barrier: \(heldBack(number))")
        check(!queues[queue].isSuspended, "operation \(number) began on suspended queue \(queue)")
        let first = firstInLine(of: queue, levels: levels) { other in
            // Other operations may have to wait for their limits, or for permits of their level.
            let hasLimits = !operations[other].limits.isEmpty && operations[other].limits != operation.limits
            return !hasLimits && (levels[other] == levels[number] || !mayBeFull(queue, levels[other], levels))
        }
        let isFirst = first == nil || first == number || precedes(number, first!, levels)
        check(isFirst, "operation \(number) began before \(first ?? -1), levels \(levels)")
        operations[number].phase = .executing
        operations[number].highestWidth = queues[queue].width
        noteStart(in: queue)
        useRoom(of: queue)
        check(queues[queue].width > 0, "operation \(number) began on queue \(queue) of width 0")
        checkPermits(of: queue, width: queues[queue].width)
        checkCap(of: queue, levels[number], levels)
        checkBarriers(of: queue)
        for limit in operation.limits { checkLimit(limit) }
    }

    /// The first operation in the order of a queue that may begin and that satisfies a condition.
    private func firstInLine(of queue: Int, levels: [Int], where isAsked: (Int) -> Bool) -> Int? {
        operations.indices
            .filter { number in
                operations[number].queue == queue && operations[number].phase == .submitted && isSurelyReady(number)
                    && heldBack(number).isEmpty && isAsked(number)
            }
            .min { precedes($0, $1, levels) }
    }

    /// Whether one operation of a queue precedes another.
    private func precedes(_ left: Int, _ right: Int, _ levels: [Int]) -> Bool {
        if levels[left] != levels[right] { return levels[left] > levels[right] }
        let isOlder = operations[left].arrival < operations[right].arrival
        switch queues[operations[left].queue!].order {
        case .firstInFirstOut: return isOlder
        case .lastInFirstOut: return !isOlder
        }
    }

    /// Checks that executing operations do not hold more permits than exist. A single operation whose weight exceeds
    /// the width may execute alone.
    private func checkPermits(of queue: Int, width: Int) {
        let holders = holders(in: queue)
        let weight = weight(of: holders)
        check(
            weight <= width || holders.count == 1,
            "\(holders) of weight \(weight) execute in queue \(queue), whose width is \(width) at most")
    }

    private mutating func checkBarriers(of queue: Int) {
        let executing = operations.indices.filter {
            operations[$0].queue == queue && operations[$0].phase == .executing
        }
        let isShared = executing.count > 1 && executing.contains { operations[$0].isBarrier }
        check(!isShared, "a barrier does not run alone in queue \(queue): \(executing) execute")
    }

    /// Records that a body ends.
    mutating func end(_ number: Int, _ outcome: Outcome) {
        check(operations[number].phase == .executing, "operation \(number) ended while \(operations[number].phase)")
        check(operations[number].waits.isEmpty, "operation \(number) ended with waits \(operations[number].waits)")
        finish(number, outcome)
    }

    /// Records that an operation without its input has ended, between two observable events.
    mutating func endWithoutInput(_ number: Int, _ outcome: Outcome) {
        let input = operations[number].input!
        let mayLack = outcome == .notReady && !operations[number].dependencies.contains(input)
        let mayFail = outcome == .dependencyFailed && operations[input].phase == .finished
        check(mayLack || mayFail, "operation \(number) came to \(outcome) without its input")
        check(isReady(number), "operation \(number) failed before \(unfinishedDependencies(of: number))")
        if let queue = operations[number].queue { noteStart(in: queue) }
        finish(number, outcome)
    }

    /// Checks, when no job is left to run, that no operation of a queue could begin.
    func checkIdle(_ queue: Int, levels: [Int]) {
        guard mayStart(in: queue), let first = heldUp(in: queue, levels: levels) else { return }
        check(false, "nothing executes in queue \(queue), and \(first) does not begin")
    }

    /// The time at which an operation of a queue begins that waits only for the rate, when no job is left to run; nil
    /// without such an operation.
    func timeToStart(in queue: Int, levels: [Int]) -> Int? {
        if mayStart(in: queue) || heldUp(in: queue, levels: levels) == nil { return nil }
        return (time...).first { mayStart(in: queue, at: $0) }
    }

    /// The first operation that could begin apart from the rate, in a queue in which no operation executes.
    private func heldUp(in queue: Int, levels: [Int]) -> Int? {
        if queues[queue].isSuspended || queues[queue].width == 0 { return nil }
        if operations.contains(where: { $0.queue == queue && $0.phase == .executing }) { return nil }
        return firstInLine(of: queue, levels: levels) { number in
            operations[number].limits.allSatisfy(hasRoom) && !mayBeFull(queue, levels[number], levels)
        }
    }

    mutating func handlerCalled(of number: Int) {
        check(operations[number].phase == .finished, "the handler of \(number) was called early")
        check(operations[number].awaitsHandler, "the handler of \(number) was called twice")
        operations[number].awaitsHandler = false
    }

    // MARK: Waits

    /// Records that a task of a body begins to wait. Returns the number of the wait.
    mutating func beginWait(_ number: Int, for target: Target, isLending: Bool = true) -> Int {
        waits += 1
        var wait = Wait(number: waits, target: target, isLending: isLending)
        if isLending {
            switch target {
            case .operation(let other): wait.isOver = operations[other].phase == .finished
            case .queue(let queue): wait.isOver = isEmpty(queue)
            }
        }
        operations[number].waits.append(wait)
        return waits
    }

    /// Records that a task of a body continues after a wait.
    mutating func endWait(_ wait: Int, of number: Int) {
        guard let index = operations[number].waits.firstIndex(where: { $0.number == wait }) else { return }
        let ended = operations[number].waits.remove(at: index)
        check(ended.isOver || !ended.isLending, "operation \(number) went on before \(ended.target)")
        guard ended.isLending, !operations[number].waits.contains(where: \.isLending),
            let queue = operations[number].queue
        else { return }
        // A body may have kept its permit, because it lends the permit only if the target needs it. All holders were
        // executing when the last of their permits was taken.
        let width = holders(in: queue).map { operations[$0].highestWidth }.min()
        checkPermits(of: queue, width: max(1, width ?? 0))
    }

    /// Records that a wait was rejected after it had begun.
    mutating func endRefusedWait(_ wait: Int, of number: Int) {
        operations[number].waits.removeAll { $0.number == wait }
    }

    // MARK: Scopes

    mutating func openScope(_ queue: Int, like fresh: Queue) {
        queues[queue] = fresh
    }

    /// Records that the body of a scope has ended. Then nothing may prevent the end of the queue.
    mutating func closeScope(_ queue: Int) {
        queues[queue].isClosing = true
        queues[queue].isSuspended = false
        queues[queue].caps = queues[queue].caps.mapValues { max(1, $0) }
        setWidth(queue, queues[queue].width)
        if queues[queue].intake == .open { queues[queue].intake = isEmpty(queue) ? .shut : .openUntilEmpty }
    }
}
