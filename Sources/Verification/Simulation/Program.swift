public import TaskOperations

/// A small program on queues and operations, as a value that the simulation runs, prints and shrinks.
///
/// Operations and queues are numbers. All operations are created first, in order, and depend only on lower numbers.
/// When no job is left, the simulation removes the remaining blocks: for example, it adds missing operations and
/// resumes suspended queues.
public struct Program: Hashable, Sendable {
    public struct Queue: Hashable, Sendable {
        public var width = 1
        public var isSuspended = false
        public var order = TaskOperationQueue.Configuration.Order.firstInFirstOut
        /// The maximum number of pending operations.
        public var pendingLimit = Int.max
        public var overflow = TaskOperationQueue.Configuration.Overflow.reject
        public var rate: Rate?
        /// Whether a step `.scope` creates the queue and releases it at its end.
        public var isScope = false
    }

    /// A rate of one start for each interval, with a number of starts at once. The interval is in seconds.
    public struct Rate: Hashable, Sendable {
        public var interval = 1
        public var burst = 1
    }

    public struct Operation: Hashable, Sendable {
        /// The priority, from 0 (background) to 4 (user-interactive).
        public var level = 2
        public var weight = 1
        /// The semaphores of which the operation needs one permit each.
        public var limits: [Int] = []
        public var dependencies: [Int] = []
        /// The operation whose value the body needs.
        public var input: Int?
        public var hasHandler = false
        public var steps: [Step] = []
    }

    public var queues: [Queue] = []
    public var operations: [Operation] = []
    /// The number of permits of each shared semaphore.
    public var semaphores: [Int] = []
    /// The steps of the program outside of bodies.
    public var steps: [Step] = []
    /// The seed of the executor.
    public var schedule: UInt64 = 0
}

/// A step of a body, or of the program outside of bodies.
public indirect enum Step: Hashable, Sendable {
    case yield
    case call(Call)
    /// Awaits an operation. If the step insists, it throws when that operation has failed.
    case await(Int, insists: Bool)
    /// Adds an operation as soon as the queue has room; see `waitForRoom`.
    case addWaiting(Int, to: Int)
    /// Waits until a queue is empty.
    case awaitAll(Int)
    /// Runs each list in its own child task, and waits for all of them.
    case children([[Step]])
    /// Opens a scope with its own queue.
    case scope(Int, [Step])
    /// Throws if the body was cancelled.
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
    /// Sets the maximum number of permits that the operations of a level hold at once.
    case setCap(Int, level: Int, Int)
    case setLevel(Int, Int)
    /// Advances the time by a number of seconds.
    case advance(Int)
    case depend(Int, on: Int)
    case undepend(Int, on: Int)
    case shutDown(Int, isCancelling: Bool)
}
