import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

/// Many of these beside many of those: a cost that is linear for either alone can be quadratic for both together.
struct GrowthPair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// How many of both there are at the smaller size.
    let smallCount: Int
    /// Does all work with so many of both, on one thread, to the end.
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
    /// Makes a queue whose bodies run here, as many at once as there are.
    func queue(width: Int = TaskOperationQueue.unlimitedConcurrentOperationCount, isSuspended: Bool = false)
        -> TaskOperationQueue
    {
        TaskOperationQueue(.init(maxConcurrentOperationCount: width, isSuspended: isSuspended, executor: self))
    }

    /// Starts tasks here that wait for something urgently, one after the other, and returns when all wait.
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
