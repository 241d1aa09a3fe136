import Foundation
import TaskOperations

// The newest operation starts first. `OperationQueue` has no such order. So image loaders make each operation depend on
// the next one, and only the newest operation is ready.

extension Case {
    static let newestFirst = Case(
        "newest-first", "empty, added before any starts, newest first", sizes: [10_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(
                    .init(maxConcurrentOperationCount: 2, order: .lastInFirstOut, isSuspended: true))
                return try await benchmark.measure(count, on: queue) { queue in
                    await mainThread.run {
                        for _ in 0..<count { queue.addOperation {} }
                        queue.isSuspended = false
                    }
                    try await queue.waitUntilAllOperationsAreFinished()
                }
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 2, isSuspended: true)
                return await benchmark.measure(count, on: queue) { queue in
                    await mainThread.run {
                        var newest: Foundation.Operation?
                        for _ in 0..<count {
                            let operation = BlockOperation {}
                            newest?.addDependency(operation)
                            queue.addOperation(operation)
                            newest = operation
                        }
                        queue.isSuspended = false
                        queue.waitUntilAllOperationsAreFinished()
                    }
                }
            },
        ])
}
