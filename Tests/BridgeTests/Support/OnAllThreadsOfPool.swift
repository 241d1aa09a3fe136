import TaskOperations

/// Does something that may block at once on all threads of the cooperative pool, twice.
func onAllThreadsOfPool(_ work: @escaping @Sendable () -> Void) async {
    await withTaskGroup { group in
        for _ in 0..<2 * TaskOperationQueue.defaultMaxConcurrentOperationCount { group.addTask { work() } }
    }
}
