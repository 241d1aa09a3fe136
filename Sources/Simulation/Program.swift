/// A small program on queues and operations, as a value: what the simulation runs, prints and shrinks.
///
/// Operations and queues are numbers. All operations are made first, in order, and have dependencies of a lower number;
/// what does not happen by itself (an operation that nobody adds, a queue that nobody resumes) is brought about when
/// nothing else is left to run.
public struct Program: Hashable, Sendable {
    public struct Queue: Hashable, Sendable {
        public var width = 1
        public var isSuspended = false
        /// It is made by a step `.scope`, and gone at the end of that.
        public var isScope = false
    }

    public struct Operation: Hashable, Sendable {
        /// From 0, background, to 4, user-interactive.
        public var level = 2
        public var dependencies: [Int] = []
        /// The operation whose value it needs.
        public var input: Int?
        public var hasHandler = false
        public var steps: [Step] = []
    }

    public var queues: [Queue] = []
    public var operations: [Operation] = []
    /// What the program does outside of bodies.
    public var steps: [Step] = []
    /// The seed of the executor.
    public var schedule: UInt64 = 0
}

/// What a body, or the program itself, does next.
public indirect enum Step: Hashable, Sendable {
    case yield
    case call(Call)
    /// Awaits an operation, and fails where that failed if it insists.
    case await(Int, insists: Bool)
    /// Awaits that a queue is empty.
    case awaitAll(Int)
    /// Child tasks, one for each list, and a wait for all of them.
    case children([[Step]])
    /// A scope with a queue of its own.
    case scope(Int, [Step])
    /// Stops where the body was cancelled.
    case checkCancellation
    case fail
}

/// What is called from synchronous code.
public enum Call: Hashable, Sendable {
    case add([Int], to: Int)
    case addBarrier(Int, to: Int)
    case cancel(Int)
    case cancelAll(Int)
    case setSuspended(Int, Bool)
    case setWidth(Int, Int)
    case setLevel(Int, Int)
    case depend(Int, on: Int)
    case undepend(Int, on: Int)
    case shutDown(Int, isCancelling: Bool)
}

// MARK: - Printing

extension Program: CustomStringConvertible {
    public var description: String {
        var lines = ["schedule \(schedule)"]
        for (number, queue) in queues.enumerated() {
            let marks = (queue.isSuspended ? ", suspended" : "") + (queue.isScope ? ", of a scope" : "")
            lines.append("queue \(number): width \(queue.width)\(marks)")
        }
        for (number, operation) in operations.enumerated() { lines.append("operation \(number): \(operation)") }
        return (lines + ["main:"] + Step.lines(steps)).joined(separator: "\n")
    }

    /// How many steps there are in all, those in steps included.
    public var size: Int {
        operations.count + Step.count(steps)
            + operations.reduce(0) { $0 + $1.dependencies.count + Step.count($1.steps) }
    }
}

extension Program.Operation: CustomStringConvertible {
    public var description: String {
        var parts = ["level \(level)"]
        if !dependencies.isEmpty { parts.append("after \(dependencies)") }
        if let input { parts.append("needs \(input)") }
        if hasHandler { parts.append("has a handler") }
        return ([parts.joined(separator: ", ")] + Step.lines(steps)).joined(separator: "\n")
    }
}

extension Step {
    static func count(_ steps: [Step]) -> Int { steps.reduce(0) { $0 + 1 + $1.inner.reduce(0) { $0 + count($1) } } }

    /// The lists of steps in it.
    private var inner: [[Step]] {
        switch self {
        case .children(let lists): lists
        case .scope(_, let steps): [steps]
        case .yield, .call, .await, .awaitAll, .checkCancellation, .fail: []
        }
    }

    fileprivate static func lines(_ steps: [Step], indent: String = "  ") -> [String] {
        steps.flatMap { step -> [String] in
            switch step {
            case .children(let lists):
                lists.flatMap { [indent + "child"] + lines($0, indent: indent + "  ") }
            case .scope(let queue, let steps):
                [indent + "scope of queue \(queue)"] + lines(steps, indent: indent + "  ")
            case .call(let call): [indent + "\(call)"]
            case .yield, .await, .awaitAll, .checkCancellation, .fail: [indent + "\(step)"]
            }
        }
    }
}
