import TaskOperationsTesting

/// Operations of both libraries on two queues, the dependencies between them, and the steps that use them. The seed
/// determines all of it.
struct BridgeProgram: Sendable {
    struct Operation: Sendable {
        /// The style of an operation of Foundation; nil for an operation of this library.
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
        /// Adds operations to the queue of the first one, in one call.
        case add([Int])
        /// Cancels an operation or, if `byRunner` is true, the operation that a queue of this library returned for it.
        case cancel(Int, byRunner: Bool)
        case becomeReady(Int)
        case finish(Int)
        case link(Int, to: Int)
        case unlink(Int, from: Int)
        case setSuspended(Int, Bool)
        case setWidth(Int, Int)
        case cancelAll(Int)
        /// Adds an operation a second time, which the queue must refuse.
        case addAgain(Int)
        /// Makes an operation depend on one that depends on it, which must be refused.
        case closeCycle(Int, over: Int)
    }

    let seed: UInt64
    let queues: [Queue]
    let operations: [Operation]
    let steps: [Step]

    /// - Parameter kinds: The possible kinds of the queues. An `OperationQueue` gets no operations of this library.
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
