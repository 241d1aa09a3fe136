import TaskOperations

/// Calls a function that may block, twice for each thread of the cooperative pool, concurrently.
func onAllThreadsOfPool(_ work: @escaping @Sendable () -> Void) async {
    await withTaskGroup { group in
        for _ in 0..<2 * TaskOperationQueue.defaultMaxConcurrentOperationCount { group.addTask { work() } }
    }
}
