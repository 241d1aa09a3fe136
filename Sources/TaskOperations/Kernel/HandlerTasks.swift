internal import CTaskOperations
import Synchronization

/// Calls completion handlers outside of bodies, in a limited number of tasks.
///
/// With a separate task for each operation, a loop that cancels operations creates tasks faster than the pool runs
/// them. A task takes more than 1,000 bytes.
enum HandlerTasks {
    private struct Key: Hashable, Sendable {
        /// Nil for the cooperative pool.
        let executor: ObjectIdentifier?
        let level: PriorityLevel
        /// A task of one run of an exploration must not make the calls of another.
        let run = taskOperationsRunNumber()
    }

    fileprivate final class Call: @unchecked Sendable {
        // `next` is accessed under the lock of `lines`.
        let function: @Sendable () -> Void
        var next: Call?

        init(_ function: @escaping @Sendable () -> Void) {
            self.function = function
        }
    }

    /// The calls that no task has taken yet, in the order of arrival.
    fileprivate struct Line: Sendable {
        var first: Call?
        var last: Call?
        var taskCount = 0
    }

    /// The lines that have tasks.
    private static let lines = Lock<[Key: Line]>([:])

    /// The maximum number of tasks of a line. One task is not enough, because a handler may block its thread until
    /// another handler has run. Dispatch creates the same number of threads for work that blocks.
    fileprivate static var maxTaskCount: Int { 64 }

    /// Calls a function in a task of the given priority.
    ///
    /// - Parameter executor: The executor of the task; nil for the cooperative pool.
    static func run(
        on executor: (any TaskExecutor)?, at priority: TaskPriority, _ function: @escaping @Sendable () -> Void
    ) {
        let key = Key(executor: executor.map { ObjectIdentifier($0) }, level: PriorityLevel(priority))
        let call = Call(function)
        let needsTask = lines.withLock { $0[key, default: Line()].append(call) }
        if !needsTask { return }
        Task.detached(executorPreference: executor, priority: key.level.taskPriority) {
            while let call = next(key) {
                call.function()
                // Other tasks take turns with the handlers.
                await Task.yield()
            }
        }
    }

    /// Removes the first call of a line. If the line is empty, returns nil and removes a task from the line.
    private static func next(_ key: Key) -> Call? {
        lines.withLock { lines in
            if let first = lines[key]!.popFirst() { return first }
            lines[key]!.taskCount -= 1
            if lines[key]!.taskCount == 0 { lines[key] = nil }
            return nil
        }
    }
}

extension HandlerTasks.Line {
    /// Adds a call. Returns true if the caller must create a task.
    fileprivate mutating func append(_ call: HandlerTasks.Call) -> Bool {
        if let last { last.next = call } else { first = call }
        last = call
        if taskCount >= HandlerTasks.maxTaskCount { return false }
        taskCount += 1
        return true
    }

    fileprivate mutating func popFirst() -> HandlerTasks.Call? {
        guard let call = first else { return nil }
        first = call.next.take()
        if first == nil { last = nil }
        return call
    }
}
