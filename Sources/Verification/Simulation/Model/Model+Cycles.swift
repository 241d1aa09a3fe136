import TaskOperations

/// The possible results of a call that the library can reject.
enum Prediction: Equatable {
    case accepted
    case refused(Refusal)
    /// Rejected for one of several reasons, the first of which may no longer apply.
    case refusedAny(Set<Refusal>)
    /// The reason for a rejection no longer applies, but its task may not have continued yet.
    case perhapsRefused(Refusal)
}

enum Refusal: Hashable {
    case alreadyAdded
    case alreadyStarted
    case dependencyCycle
    case waitCycle
}

// The wait graph.

extension Model {
    /// A node of the wait graph.
    private enum Node: Hashable {
        case target(Target)
        /// A semaphore that limits operations.
        case limit(Int)

        static func operation(_ number: Int) -> Node { .target(.operation(number)) }
    }

    /// Whether some nodes contain a goal, or wait for a goal.
    ///
    /// - Parameters:
    ///   - perhaps: Whether waits also count if their target has been reached.
    ///   - added: Operations that count as added.
    private func reaches(_ goals: Set<Node>, from nodes: [Node], perhaps: Bool, added: Set<Int> = []) -> Bool {
        var reached = Set(nodes)
        var unexplored = nodes
        while let node = unexplored.popLast() {
            if goals.contains(node) { return true }
            for next in waited(for: node, perhaps: perhaps, added) where reached.insert(next).inserted {
                unexplored.append(next)
            }
        }
        return false
    }

    private func waited(for node: Node, perhaps: Bool, _ added: Set<Int>) -> [Node] {
        switch node {
        case .limit(let limit): return keepers(ofLimit: limit, perhaps: perhaps).map(Node.operation)
        case .target(.queue(let queue)): return unfinished(in: queue).map(Node.operation)
        case .target(.operation(let number)):
            let operation = operations[number]
            if operation.phase == .finished { return [] }
            let isAdded = operation.phase < .executing && (operation.wasSubmitted || added.contains(number))
            return (unfinishedDependencies(of: number) + heldBack(number)).map(Node.operation)
                + operation.waits.filter { perhaps || !$0.isOver }.map { Node.target($0.target) }
                + (isAdded ? operation.limits.map(Node.limit) : [])
        }
    }

    /// The operations whose bodies keep a permit of a semaphore while they wait.
    private func keepers(ofLimit limit: Int, perhaps: Bool) -> [Int] {
        operations.indices.filter { number in
            operations[number].phase == .executing && operations[number].limits.contains(limit)
                && operations[number].waits.contains { perhaps || !$0.isOver }
        }
    }

    private func prediction(_ refusal: Refusal, _ closes: (_ perhaps: Bool) -> Bool) -> Prediction {
        if closes(false) { return .refused(refusal) }
        return closes(true) ? .perhapsRefused(refusal) : .accepted
    }

    func addingDependency(_ other: Int, to number: Int) -> Prediction {
        if operations[number].phase >= .executing { return .refused(.alreadyStarted) }
        return prediction(.dependencyCycle) { perhaps in
            reaches([.operation(number)], from: [.operation(other)], perhaps: perhaps)
        }
    }

    func removingDependency(of number: Int) -> Prediction {
        operations[number].phase >= .executing ? .refused(.alreadyStarted) : .accepted
    }

    func waiting(_ number: Int, for target: Target) -> Prediction {
        prediction(.waitCycle) { perhaps in
            // The waiting body keeps its limits.
            reaches(
                Set(operations[number].limits.map(Node.limit) + [.operation(number)]), from: [.target(target)],
                perhaps: perhaps)
        }
    }

    func adding(_ numbers: [Int], to queue: Int, isBarrier: Bool) -> Prediction {
        let claiming = claiming(numbers)
        switch claiming {
        case .refused, .refusedAny: return claiming
        case .accepted, .perhapsRefused: break
        }
        // An operation that is added too late ends at once, so it does not wait.
        if queues[queue].intake == .shut || queues[queue].cancelsAdded { return claiming }
        let alive = numbers.filter { operations[$0].phase != .finished }
        let before = heldBack(by: queue, before: .max, isBarrier: isBarrier).map(Node.operation)
        // An operation that finds no room also ends at once, but may be rejected before.
        let finds = !isFull(queue) || queues[queue].overflow != .reject
        let dependencies = alive.flatMap { unfinishedDependencies(of: $0) }.map(Node.operation)
        let limits = alive.flatMap { operations[$0].limits }.map(Node.limit)
        let inserting = prediction(.dependencyCycle) { perhaps in
            if !finds, !perhaps { return false }
            return reaches(Set(alive.map(Node.operation)), from: before, perhaps: perhaps, added: Set(alive))
                || reaches([.target(.queue(queue))], from: dependencies + limits, perhaps: perhaps, added: Set(alive))
        }
        return inserting == .accepted ? claiming : inserting
    }

    /// The result of an attempt to claim operations one after the other, for any queue. The first rejection is the
    /// result.
    func claiming(_ numbers: [Int]) -> Prediction {
        let taken = numbers.indices.first {
            operations[numbers[$0]].wasSubmitted || numbers[..<$0].contains(numbers[$0])
        }
        let alive = numbers[..<(taken ?? numbers.endIndex)].filter { operations[$0].phase != .finished }
        let cycle = prediction(.dependencyCycle) { perhaps in
            alive.contains { number in
                let limits = operations[number].limits.map(Node.limit)
                return reaches([.operation(number)], from: limits, perhaps: perhaps, added: Set(alive))
            }
        }
        if taken == nil { return cycle }
        return switch cycle {
        case .accepted: .refused(.alreadyAdded)
        case .perhapsRefused(let refusal): .refusedAny([refusal, .alreadyAdded])
        case .refused, .refusedAny: cycle
        }
    }
}
