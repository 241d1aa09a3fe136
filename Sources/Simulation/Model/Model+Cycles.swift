import TaskOperations

/// What has to come of a call that can be refused.
enum Prediction: Equatable {
    case accepted
    case refused(Refusal)
    /// What could refuse it is over, but may not have gone on yet.
    case perhapsRefused(Refusal)
}

enum Refusal: Hashable {
    case alreadyAdded
    case alreadyStarted
    case dependencyCycle
    case waitCycle
}

// Who waits for whom.

extension Model {
    /// Whether a target waits for another one, or is it. `perhaps` counts waits that are over too.
    private func reaches(_ goals: Set<Target>, from targets: [Target], perhaps: Bool) -> Bool {
        var reached = Set(targets)
        var unexplored = targets
        while let target = unexplored.popLast() {
            if goals.contains(target) { return true }
            for next in waited(for: target, perhaps: perhaps) where reached.insert(next).inserted {
                unexplored.append(next)
            }
        }
        return false
    }

    private func waited(for target: Target, perhaps: Bool) -> [Target] {
        switch target {
        case .queue(let queue): return unfinished(in: queue).map(Target.operation)
        case .operation(let number):
            let operation = operations[number]
            if operation.phase == .finished { return [] }
            return (unfinishedDependencies(of: number) + heldBack(number)).map(Target.operation)
                + operation.waits.filter { perhaps || !$0.isOver }.map(\.target)
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
            reaches([.operation(number)], from: [target], perhaps: perhaps)
        }
    }

    func adding(_ numbers: [Int], to queue: Int, isBarrier: Bool) -> Prediction {
        if Set(numbers).count < numbers.count || numbers.contains(where: { operations[$0].wasSubmitted }) {
            return .refused(.alreadyAdded)
        }
        // What comes too late ends at once, and waits for nothing.
        if queues[queue].intake == .shut || queues[queue].cancelsAdded { return .accepted }
        let alive = numbers.filter { operations[$0].phase != .finished }
        let before = heldBack(by: queue, before: .max, isBarrier: isBarrier).map(Target.operation)
        // What finds no room ends at once too; but it may be refused before that is seen.
        let finds = !isFull(queue) || queues[queue].overflow != .refuse
        let dependencies = alive.flatMap { unfinishedDependencies(of: $0) }.map(Target.operation)
        return prediction(.dependencyCycle) { perhaps in
            if !finds, !perhaps { return false }
            return reaches(Set(alive.map(Target.operation)), from: before, perhaps: perhaps)
                || reaches([.queue(queue)], from: dependencies, perhaps: perhaps)
        }
    }
}
