public import TaskOperations

/// A small program on queues and operations, as a value that the simulation runs, prints and shrinks.
///
/// Operations and queues are numbers. All operations are made first, in order, and have dependencies of a lower number.
/// When no job is left, the simulation adds operations that were not added, resumes suspended queues, and so on.
public struct Program: Hashable, Sendable {
    public struct Queue: Hashable, Sendable {
        public var width = 1
        public var isSuspended = false
        public var order = OperationOrder.firstInFirstOut
        /// How many operations may be pending.
        public var pendingLimit = Int.max
        public var overflow = QueueOverflow.reject
        public var rate: Rate?
        /// The seconds after which ageing raises an operation by one level.
        public var ageing: Int?
        /// It is made by a step `.scope`, and gone at the end of that.
        public var isScope = false
    }

    /// A start for each so many seconds, and how many at once.
    public struct Rate: Hashable, Sendable {
        public var interval = 1
        public var burst = 1
    }

    public struct Operation: Hashable, Sendable {
        /// From 0, background, to 4, user-interactive.
        public var level = 2
        public var weight = 1
        /// The semaphores of each of which it needs a permit.
        public var limits: [Int] = []
        public var dependencies: [Int] = []
        /// The operation whose value it needs.
        public var input: Int?
        public var hasHandler = false
        public var steps: [Step] = []
    }

    public var queues: [Queue] = []
    public var operations: [Operation] = []
    /// How many permits each semaphore has that operations share.
    public var semaphores: [Int] = []
    /// The steps of the program outside of bodies.
    public var steps: [Step] = []
    /// The seed of the executor.
    public var schedule: UInt64 = 0
}

/// A step of a body, or of the program itself.
public indirect enum Step: Hashable, Sendable {
    case yield
    case call(Call)
    /// Awaits an operation, and fails where that failed if it insists.
    case await(Int, insists: Bool)
    /// Adds an operation as soon as there is room for it: see `waitForRoom`.
    case addWaiting(Int, to: Int)
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

/// A call from synchronous code.
public enum Call: Hashable, Sendable {
    case add([Int], to: Int)
    case addBarrier(Int, to: Int)
    case cancel(Int)
    case cancelAll(Int)
    case setSuspended(Int, Bool)
    case setWidth(Int, Int)
    case setPendingLimit(Int, Int)
    /// How many permits the operations of a level take at once.
    case setCap(Int, level: Int, Int)
    case setLevel(Int, Int)
    /// So many seconds pass.
    case advance(Int)
    case depend(Int, on: Int)
    case undepend(Int, on: Int)
    case shutDown(Int, isCancelling: Bool)
}
