import TaskOperations

// Smaller programs that lack one part of this program.

extension Program {
    /// The programs that lack one part of this program. Programs without large parts are first.
    var smaller: [Program] {
        var smaller: [Program] = []
        func add(_ change: (inout Program) -> Void) {
            var copy = self
            change(&copy)
            if copy != self { smaller.append(copy) }
        }
        for number in operations.indices.reversed() { add { $0.remove(operation: number) } }
        for list in Step.smaller(steps) { add { $0.steps = list } }
        for number in operations.indices {
            for list in Step.smaller(operations[number].steps) { add { $0.operations[number].steps = list } }
            for operation in operations[number].smaller { add { $0.operations[number] = operation } }
        }
        for number in operations.indices where !operations[number].steps.isEmpty {
            add { $0.hoistSteps(of: number) }
        }
        for queue in queues.indices {
            add { $0.queues[queue].isSuspended = false }
            add { $0.queues[queue].width = 1 }
            add { $0.queues[queue].order = .firstInFirstOut }
            add { $0.queues[queue].pendingLimit = .max }
            add { $0.queues[queue].overflow = .reject }
            add { $0.queues[queue].rate = nil }
        }
        if !semaphores.isEmpty { add { $0.removeLastSemaphore() } }
        if queues.count > 1 { add { $0.removeLastQueue() } }
        return smaller
    }

    /// Removes an operation, and all steps that use it.
    private mutating func remove(operation number: Int) {
        if operations.count == 1 { return }
        operations.remove(at: number)
        let renumber = Renumbering(removed: number)
        steps = renumber(steps)
        for index in operations.indices {
            operations[index].dependencies = operations[index].dependencies.compactMap { renumber($0) }
            operations[index].input = operations[index].input.flatMap { renumber($0) }
            operations[index].steps = renumber(operations[index].steps)
        }
    }

    /// Moves the steps of a body to the program itself, so that the operation can be removed.
    private mutating func hoistSteps(of number: Int) {
        steps += operations[number].steps
        operations[number].steps = []
    }

    private mutating func removeLastSemaphore() {
        semaphores.removeLast()
        for index in operations.indices { operations[index].limits.removeAll { $0 == semaphores.count } }
    }

    private mutating func removeLastQueue() {
        if queues.last?.isScope == false, queues.dropLast().allSatisfy(\.isScope) { return }
        let last = queues.count - 1
        queues.removeLast()
        let renumber = Renumbering(removedQueue: last)
        steps = renumber(steps)
        for index in operations.indices { operations[index].steps = renumber(operations[index].steps) }
    }
}

extension Program.Operation {
    fileprivate var smaller: [Self] {
        var smaller: [Self] = []
        for index in dependencies.indices {
            var copy = self
            copy.dependencies.remove(at: index)
            smaller.append(copy)
        }
        var plain = self
        plain.input = nil
        if plain != self { smaller.append(plain) }
        plain = self
        plain.hasHandler = false
        if plain != self { smaller.append(plain) }
        plain = self
        plain.limits = []
        if plain != self { smaller.append(plain) }
        plain = self
        plain.weight = 1
        if plain != self { smaller.append(plain) }
        plain = self
        plain.level = 2
        if plain != self { smaller.append(plain) }
        return smaller
    }
}

extension Step {
    /// The lists of steps that lack one part of the given list.
    fileprivate static func smaller(_ steps: [Step]) -> [[Step]] {
        var smaller: [[Step]] = steps.count > 2 ? [Array(steps.prefix(steps.count / 2))] : []
        for index in steps.indices.reversed() {
            let (before, after) = (Array(steps[..<index]), Array(steps[(index + 1)...]))
            smaller.append(before + after)
            for replacement in steps[index].smaller { smaller.append(before + replacement + after) }
        }
        return smaller
    }

    /// The possible replacements of the step.
    private var smaller: [[Step]] {
        switch self {
        case .children(let lists):
            lists
                + lists.indices.map { index in
                    var fewer = lists
                    fewer.remove(at: index)
                    return [.children(fewer)]
                }
                + lists.indices.flatMap { index in
                    Step.smaller(lists[index]).map { list in
                        var changed = lists
                        changed[index] = list
                        return [.children(changed)]
                    }
                }
        case .scope(let queue, let steps): [steps] + Step.smaller(steps).map { [.scope(queue, $0)] }
        case .call(.add(let numbers, let queue)) where numbers.count > 1:
            numbers.map { [.call(.add([$0], to: queue))] }
        case .await(let number, insists: true): [[.await(number, insists: false)]]
        case .addWaiting(let number, let queue): [[.call(.add([number], to: queue))]]
        case .yield, .call, .await, .awaitAll, .checkCancellation, .fail: []
        }
    }
}

/// The numbers of operations and queues after the removal of one of them.
private struct Renumbering {
    var removed = Int.max
    var removedQueue = Int.max

    func callAsFunction(_ number: Int) -> Int? {
        number == removed ? nil : number > removed ? number - 1 : number
    }

    func callAsFunction(_ steps: [Step]) -> [Step] { steps.compactMap(callAsFunction) }

    private func callAsFunction(_ step: Step) -> Step? {
        switch step {
        case .yield, .checkCancellation, .fail: step
        case .call(let call): self(call).map { .call($0) }
        case .await(let number, let insists): self(number).map { .await($0, insists: insists) }
        case .addWaiting(let number, let queue):
            queue == removedQueue ? nil : self(number).map { .addWaiting($0, to: queue) }
        case .awaitAll(let queue): queue == removedQueue ? nil : step
        case .children(let lists): .children(lists.map { self($0) })
        case .scope(let queue, let steps): queue == removedQueue ? nil : .scope(queue, self(steps))
        }
    }

    private func callAsFunction(_ call: Call) -> Call? {
        switch call {
        case .add(let numbers, let queue):
            let left = numbers.compactMap { self($0) }
            return queue == removedQueue || left.isEmpty ? nil : .add(left, to: queue)
        case .addBarrier(let number, let queue):
            return queue == removedQueue ? nil : self(number).map { .addBarrier($0, to: queue) }
        case .cancel(let number): return self(number).map { .cancel($0) }
        case .setLevel(let number, let level): return self(number).map { .setLevel($0, level) }
        case .depend(let number, let other): return both(number, other).map { .depend($0.0, on: $0.1) }
        case .undepend(let number, let other): return both(number, other).map { .undepend($0.0, on: $0.1) }
        case .cancelAll(let queue), .setSuspended(let queue, _), .setWidth(let queue, _),
            .setPendingLimit(let queue, _), .setCap(let queue, level: _, _), .shutDown(let queue, _):
            return queue == removedQueue ? nil : call
        case .advance: return call
        }
    }

    private func both(_ number: Int, _ other: Int) -> (Int, Int)? {
        guard let number = self(number), let other = self(other) else { return nil }
        return (number, other)
    }
}
