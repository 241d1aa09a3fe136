import TaskOperationsTesting

/// Operations of both worlds on two queues, with edges between them, and the steps that use them. All of it follows
/// from a seed.
struct BridgeProgram: Sendable {
    struct Operation: Sendable {
        /// Nil for an operation of ours.
        let style: OperationStyle?
        let dependencies: [Int]
        let queue: Int
    }

    struct Queue: Sendable {
        let kind: LegacyQueue
        let width: Int
        let isSuspended: Bool
    }

    enum Step: Sendable {
        /// Adds operations to the queue of the first, in one step.
        case add([Int])
        /// Cancels an operation, or if `byRunner` the operation that a queue of ours returned for it.
        case cancel(Int, byRunner: Bool)
        case becomeReady(Int)
        case finish(Int)
        case link(Int, to: Int)
        case unlink(Int, from: Int)
        case setSuspended(Int, Bool)
        case setWidth(Int, Int)
        case cancelAll(Int)
        /// Adds an operation that was added before, which is refused.
        case addAgain(Int)
        /// Makes an operation depend on an operation that depends on it. This is refused.
        case closeCycle(Int, over: Int)
    }

    let seed: UInt64
    let queues: [Queue]
    let operations: [Operation]
    let steps: [Step]

    /// - Parameter kinds: The possible kinds of the queues. An `OperationQueue` gets no operations of ours.
    init(seed: UInt64, kinds: [LegacyQueue]) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        let queues = (0..<2).map { _ in
            Queue(
                kind: kinds[random.number(below: kinds.count)], width: 1 + random.number(below: 3),
                isSuspended: random.happens(percent: 30))
        }
        self.queues = queues
        let count = 2 + random.number(below: 4)
        operations = (0..<count).map { number in
            let queue = random.number(below: queues.count)
            let styles = OperationStyle.allCases
            let isOurs = !kinds.contains(.foundation) && random.happens(percent: 25)
            return Operation(
                style: isOurs ? nil : styles[random.number(below: styles.count)],
                dependencies: (0..<number).filter { _ in random.happens(percent: 30) }, queue: queue)
        }
        steps = (0..<(count * 2 + random.number(below: 8))).map { _ in Self.step(count, &random) }
    }

    private static func step(_ count: Int, _ random: inout SeededGenerator) -> Step {
        let number = random.number(below: count)
        let other = random.number(below: max(1, number))
        switch random.number(below: 24) {
        case 0..<7: return .add(random.happens(percent: 25) ? [number, (number + 1) % count] : [number])
        case 7..<9: return .cancel(number, byRunner: random.happens(percent: 40))
        case 9..<12: return .becomeReady(number)
        case 12..<14: return .finish(number)
        case 14: return .link(number, to: other)
        case 15: return .unlink(number, from: other)
        case 16..<18: return .setSuspended(random.number(below: 2), random.happens(percent: 40))
        case 20..<22: return .addAgain(number)
        case 22..<24: return .closeCycle(other, over: number)
        case 18: return .setWidth(random.number(below: 2), 1 + random.number(below: 3))
        default: return random.happens(percent: 30) ? .cancelAll(random.number(below: 2)) : .becomeReady(other)
        }
    }
}
