/// The living tasks of the process at one moment, the reason why each of them does not continue, and the tasks or
/// threads that hold up the others.
///
/// ```swift
/// TaskDump.install(on: .quit)  // Control-backslash, or kill -QUIT, then prints a dump.
/// ```
///
/// The description names the causes first, and is at most a screen long. `fullDescription` has all tasks:
///
/// ```
/// Task dump: 98 tasks, 5 other threads.
/// 1 task holds up 97 others: blocks() (Upload.swift:52) blocks its thread in dispatch_semaphore_wait_slow (a lock, a semaphore or a condition)
/// ```
///
/// On Linux, tasks are known from the first call of `install`, `watch` or `capture` on. A program pays for that about a
/// tenth of the time of an empty task. On other systems, and with a runtime whose layout is not known, a dump has no
/// tasks; `limitation` says so.
///
/// A dump changes nothing: memory that may be gone is read as a debugger does. A thread that runs, or waits for a lock
/// without a limit of time, is interrupted for some microseconds.
public struct TaskDump: Sendable {
    /// A function of a stack or of a chain of asynchronous calls.
    public struct Frame: Sendable, Hashable, CustomStringConvertible {
        /// The function.
        public let function: String
        /// The file and the line, such as `"Upload.swift:52"`; nil without debug information.
        public let place: String?
        /// The code to which the function belongs.
        package let owner: Owner

        package enum Owner: Sendable {
            case program
            /// TaskOperations and its sisters.
            case package
            /// The Swift toolchain or the system.
            case system
        }

        public var description: String { function + (place.map { " (\($0))" } ?? "") }
    }

    /// What a task waits for.
    public enum Wait: Sendable, Hashable {
        /// The end of another task, which has this number.
        case task(UInt64)
        /// The ends of the children of a group, which have these numbers.
        case children([UInt64])
        /// An actor, which the task with the number `holder` runs on; nil if no thread runs on it.
        case actor(type: String, address: UInt, holder: UInt64?)
        /// A continuation that no code has resumed.
        case continuation
        /// The end of a sleep. The rest of its duration is nil if it is not known.
        case sleep(remaining: Duration?)
        /// The next element of an asynchronous sequence.
        case element
        /// An operation, a permit or a queue of TaskOperations, with the explanation.
        case operation(String)
        /// A thread of the pool, or another executor, on which the task continues.
        case executor
        /// A call of the system or of a library that blocks the thread of the task.
        case thread(String)
        /// Nothing: the task computes.
        case nothing
    }

    /// A task.
    public struct Entry: Sendable {
        /// The number that the runtime gave to the task.
        public let number: UInt64
        /// The name of the task; nil if it has none.
        public let name: String?
        /// The priority, including escalation.
        public let priority: TaskPriority
        /// Whether the task was cancelled.
        public let isCancelled: Bool
        /// The functions that created the task, innermost first; empty if it was created before tasks were listed.
        public let creators: [Frame]
        /// The functions with which the task and its callers continue, innermost first; of a task that runs, the stack
        /// of its thread.
        public let frames: [Frame]
        /// What the task waits for.
        public internal(set) var wait: Wait
        /// The number of the task's parent; nil if the task is no child.
        public let parent: UInt64?
        /// The tasks and threads that must do something before the task can continue.
        var targets: [Node] = []
        /// Whether the task is that of the caller, which took the dump.
        var isCaller = false
    }

    /// A thread other than the one that took the dump.
    public struct ThreadEntry: Sendable {
        /// The number that the system gave to the thread.
        public let number: Int
        /// The number of the task that the thread runs; nil if it runs none.
        public let task: UInt64?
        /// The blocking call, such as `"DispatchSemaphore.wait()"`; nil if the thread computes.
        public let blockedIn: String?
        /// The functions of the stack, innermost first.
        public let frames: [Frame]
        /// The task or thread that has the lock for which the thread waits.
        var targets: [Node] = []
    }

    /// A task that others wait for, and that waits for no task itself.
    public struct Culprit: Sendable, CustomStringConvertible {
        /// The numbers of the tasks: equal ones, or those of a cycle. Threads without tasks are not in it.
        public let tasks: [UInt64]
        /// The numbers of the tasks that wait for them, also through others.
        public let heldUp: [UInt64]
        /// Whether the tasks wait for each other.
        public let isCycle: Bool
        public let description: String
    }

    /// A task or a thread, as a node of the graph of waits.
    enum Node: Hashable, Sendable {
        case task(UInt64)
        case thread(Int)
    }

    /// The tasks, in the order of their numbers.
    public let tasks: [Entry]
    /// The threads.
    public let threads: [ThreadEntry]
    /// The causes, the one that holds up most tasks first.
    public let culprits: [Culprit]
    /// The reason why no tasks are listed; nil if they are.
    public let limitation: String?
    /// The description of an explainer that needs no tasks; nil if tasks are listed.
    let overview: String?

    /// Describes waits that only their library knows.
    public struct Explainer: Sendable {
        package let explain: @Sendable ([Candidate]) -> [Explanation]
        /// Describes what is known without tasks.
        package let overview: @Sendable () -> String

        package init(
            overview: @escaping @Sendable () -> String, _ explain: @escaping @Sendable ([Candidate]) -> [Explanation]
        ) {
            (self.overview, self.explain) = (overview, explain)
        }
    }

    /// A task in which functions of TaskOperations take part.
    package struct Candidate: Sendable {
        /// A function of the chain, with its memory.
        package struct Frame: Sendable {
            package let function: String
            let owner: TaskDump.Frame.Owner
            let (start, end): (UInt, UInt)
        }

        /// The address of the task, which only identifies it.
        package let task: UInt
        /// The functions of the chain, innermost first.
        package let frames: [Frame]
        /// Whether the task waits for a continuation.
        package let isWaiting: Bool

        /// The functions that the innermost function of the program has called.
        package var innerFrames: [Frame] { Array(frames.prefix { $0.owner != .program }) }
    }

    /// The reason why a task waits.
    package struct Explanation: Sendable {
        package let task: UInt
        package let text: String
        /// The tasks that must continue first, by their addresses.
        package let holders: [UInt]

        package init(task: UInt, text: String, holders: [UInt]) {
            (self.task, self.text, self.holders) = (task, text, holders)
        }
    }
}
