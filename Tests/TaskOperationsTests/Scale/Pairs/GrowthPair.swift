import Simulation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// Many objects of one kind together with many objects of another. A cost that is linear in each kind alone can be
/// quadratic in both together.
struct GrowthPair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The number of objects of each kind at the smaller size.
    let smallCount: Int
    /// Performs all the work with `count` objects of each kind, on one thread.
    let run: @Sendable (_ count: Int, _ executor: SeededExecutor) async throws -> Void

    init(
        _ description: String, from smallCount: Int = isDeep ? 200 : 100,
        _ run: @escaping @Sendable (_ count: Int, _ executor: SeededExecutor) async throws -> Void
    ) {
        testDescription = description
        self.smallCount = smallCount
        self.run = run
    }

    static let all = graphs + barriers + waits + scopes + cancellations + searches
}

extension SeededExecutor {
    /// Returns a queue whose bodies run on this executor, by default without a limit.
    func queue(width: Int = .max, isSuspended: Bool = false)
        -> TaskOperationQueue
    {
        TaskOperationQueue(.init(maxConcurrentOperationCount: width, isSuspended: isSuspended, executor: self))
    }

    /// Starts tasks that await the operations with high priority, one after another. Returns when all of them wait.
    func awaitUrgently(_ operations: [TaskOperation<Void>]) async -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        for operation in operations {
            let begun = ConcurrencyMeter()
            tasks.append(
                Task(executorPreference: self, priority: .high) {
                    begun.enter()
                    _ = await operation.result
                })
            while begun.total == 0 { await Task.yield() }
        }
        return tasks
    }
}
