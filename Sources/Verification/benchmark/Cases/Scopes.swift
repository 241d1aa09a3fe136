import TaskOperations

// The cost of a queue that exists for a scope. A task on the pool opens the scope.

extension Case {
    static let scopeOfOne = Case(
        "scope", variant: "of one", "scope with one empty operation, one scope after the other", sizes: [10_000],
        subjects: [
            Subject(.scopedQueue) { count in
                await onPool(count) {
                    for _ in 0..<count {
                        try! await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
                            queue.addOperation {}
                            return ()
                        }
                    }
                }
            },
            Subject(.taskOperationQueue) { count in
                await onPool(count) {
                    for _ in 0..<count {
                        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
                        _ = await queue.addOperation {}.result
                    }
                }
            },
            Subject(.taskGroup) { count in
                await onPool(count) {
                    for _ in 0..<count { await withTaskGroup { group in group.addTask {} } }
                }
            },
        ])

    static let scopeOfMany = Case(
        "scope", variant: "of many", "empty, added one by one, all in one scope, width 2", sizes: [100_000],
        subjects: [
            Subject(.scopedQueue) { count in
                await onPool(count) {
                    try! await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
                        for _ in 0..<count { queue.addOperation {} }
                    }
                }
            },
            Subject(.taskOperationQueue) { count in
                await onPool(count) {
                    let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
                    for _ in 0..<count { queue.addOperation {} }
                    try? await queue.waitUntilAllOperationsAreFinished()
                }
            },
            Subject(.taskGroup) { count in
                await onPool(count) {
                    await withDiscardingTaskGroup { group in for _ in 0..<count { group.addTask {} } }
                }
            },
        ])

    private static func onPool(_ count: Int, _ work: @escaping @Sendable () async -> Void) async -> Measurement {
        await benchmark.measure(count, on: 0) { _ in await Task.detached { await work() }.value }
    }
}
