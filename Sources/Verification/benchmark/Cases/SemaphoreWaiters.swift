import TaskOperations

// Many tasks wait for a semaphore. The measured time begins when the first task can continue, and ends with the last
// task. The only comparison is the same case with a tenth of the tasks.

extension Case {
    static let semaphoreServed = Case(
        "semaphore", variant: "served", "waits for a permit and gives it back", sizes: [10_000, 100_000],
        subjects: [
            Subject(.asyncSemaphore) { count in
                await Waiters.measure(count, release: { semaphore, _ in semaphore.capacity = 2 })
            }
        ])

    static let semaphorePrioritised = Case(
        "semaphore", variant: "served by priority", "the same, at one of five priorities", sizes: [10_000, 100_000],
        subjects: [
            Subject(.asyncSemaphore) { count in
                let priorities: [TaskPriority] = [.medium, .background, .high, .low, TaskPriority(rawValue: 33)]
                return await Waiters.measure(
                    count, priority: { priorities[$0 % priorities.count] },
                    release: { semaphore, _ in semaphore.capacity = 2 })
            }
        ])

    static let semaphoreCancelled = Case(
        "semaphore", variant: "cancelled", "is cancelled while it waits for a permit", sizes: [10_000, 100_000],
        subjects: [
            Subject(.asyncSemaphore) { count in
                await Waiters.measure(count, release: { _, tasks in tasks.forEach { $0.cancel() } })
            }
        ])
}

private enum Waiters {
    /// The waiters are unstructured tasks, because a task group takes linear time for each child that does not end in
    /// order.
    ///
    /// - Parameter release: Makes the waiters continue.
    static func measure(
        _ count: Int, priority: @escaping @Sendable (Int) -> TaskPriority? = { _ in nil },
        release: (AsyncSemaphore, [Task<Void, Never>]) -> Void
    ) async -> Measurement {
        let semaphore = AsyncSemaphore(capacity: 0)
        let tasks = (0..<count).map { number in
            Task.detached { _ = try? await semaphore.withPermit(priority: priority(number)) {} }
        }
        while semaphore.waitingCount < count { await Task.yield() }
        return await benchmark.measure(count, on: tasks) { tasks in
            release(semaphore, tasks)
            for task in tasks { await task.value }
        }
    }
}
