extension Program {
    /// Creates the program that a seed determines.
    public init(seed: UInt64) {
        var generator = SeededChoices(seed: seed)
        self.init(from: &generator)
    }

    /// Creates a program of up to 9 operations on up to 3 queues.
    public init(from choices: inout some Choices) {
        for _ in 0...choices.number(below: 2) { queues.append(Queue(from: &choices)) }
        if choices.happens(percent: 30) { queues.append(Queue(width: 1 + choices.number(below: 2), isScope: true)) }
        let count = 2 + choices.number(below: 8)
        var maker = StepMaker(queues: queues, operations: count)
        for number in 0..<count {
            operations.append(Operation(number: number, &maker, from: &choices))
        }
        steps = maker.main(from: &choices)
        schedule = UInt64(choices.number(below: 1 << 16))
        // Policies are chosen last, so that the bytes of an older program still produce that program: the missing bytes
        // are 0, which means no policy.
        if choices.number(below: 2) > 0 { addPolicies(from: &choices) }
    }
}

extension Program.Queue {
    fileprivate init(from choices: inout some Choices) {
        width = choices.pick([(8, { _ in 1 }), (6, { _ in 2 }), (3, { _ in 3 }), (1, { _ in 0 })])
        isSuspended = choices.happens(percent: 20)
    }
}

extension Program.Operation {
    fileprivate init(number: Int, _ maker: inout StepMaker, from choices: inout some Choices) {
        level = choices.happens(percent: 50) ? 2 : choices.number(below: 5)
        for _ in 0..<[0, 0, 0, 1, 1, 2][choices.number(below: 6)] where number > 0 {
            let other = choices.number(below: number)
            if !dependencies.contains(other) { dependencies.append(other) }
        }
        if number > 0, choices.happens(percent: 15) { input = choices.number(below: number) }
        hasHandler = choices.happens(percent: 20)
        steps = maker.steps(upTo: 4, from: &choices)
    }
}

/// Makes steps that use the queues and operations of a program.
private struct StepMaker {
    let queues: [Program.Queue]
    let operations: Int

    /// Makes steps that add operations, mostly in their order, with other steps between.
    mutating func main(from choices: inout some Choices) -> [Step] {
        var steps: [Step] = []
        for number in 0..<operations {
            if choices.happens(percent: 60) { steps += self.steps(upTo: 1, from: &choices) }
            if choices.happens(percent: 85) { steps.append(.call(adding(number, from: &choices))) }
        }
        return steps + self.steps(upTo: 6, from: &choices)
    }

    mutating func steps(upTo most: Int, depth: Int = 0, from choices: inout some Choices) -> [Step] {
        let count = choices.number(below: most + 1)
        return (0..<count).map { _ in step(depth, from: &choices) }
    }

    private mutating func step<Source: Choices>(_ depth: Int, from choices: inout Source) -> Step {
        var copy = self
        let step = choices.pick(
            [
                (8, { _ in .yield }),
                (14, { .call(copy.call(from: &$0)) }),
                (8, { .await($0.number(below: copy.operations), insists: $0.happens(percent: 30)) }),
                (2, { .awaitAll($0.number(below: copy.queues.count)) }),
                (depth < 2 ? 3 : 0, { copy.children(depth, from: &$0) }),
                (depth < 2 ? 2 : 0, { copy.scope(depth, from: &$0) }),
                (2, { _ in .checkCancellation }),
                (2, { _ in .fail }),
            ] as [(Int, (inout Source) -> Step)])
        self = copy
        return step
    }

    private mutating func children(_ depth: Int, from choices: inout some Choices) -> Step {
        let count = 1 + choices.number(below: 3)
        return .children((0..<count).map { _ in steps(upTo: 2, depth: depth + 1, from: &choices) })
    }

    private mutating func scope(_ depth: Int, from choices: inout some Choices) -> Step {
        guard let queue = queues.firstIndex(where: \.isScope) else { return .yield }
        let own: [Step] = (0..<choices.number(below: 3)).map { _ in
            .call(.add([choices.number(below: operations)], to: queue))
        }
        return .scope(queue, own + steps(upTo: 2, depth: depth + 1, from: &choices))
    }

    private func adding(_ number: Int, from choices: inout some Choices) -> Call {
        let queue = choices.number(below: queues.count)
        if choices.happens(percent: 15) { return .addBarrier(number, to: queue) }
        if choices.happens(percent: 10) { return .add([number, choices.number(below: operations)], to: queue) }
        return .add([number], to: queue)
    }

    private func call<Source: Choices>(from choices: inout Source) -> Call {
        let (queues, operations) = (queues.count, operations)
        return choices.pick(
            [
                (6, { adding($0.number(below: operations), from: &$0) }),
                (6, { .cancel($0.number(below: operations)) }),
                (1, { .cancelAll($0.number(below: queues)) }),
                (5, { .setSuspended($0.number(below: queues), $0.happens(percent: 40)) }),
                (4, { .setWidth($0.number(below: queues), $0.number(below: 4)) }),
                (5, { .setLevel($0.number(below: operations), $0.number(below: 5)) }),
                (5, { .depend($0.number(below: operations), on: $0.number(below: operations)) }),
                (2, { .undepend($0.number(below: operations), on: $0.number(below: operations)) }),
                (1, { .shutDown($0.number(below: queues), isCancelling: $0.happens(percent: 50)) }),
            ] as [(Int, (inout Source) -> Call)])
    }
}
