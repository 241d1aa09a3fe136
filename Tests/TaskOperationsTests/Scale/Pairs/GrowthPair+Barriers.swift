import TaskOperations
import TaskOperationsTesting

extension GrowthPair {
    static let barriers = [
        GrowthPair("operations, and barriers between them") { count, executor in
            let queue = executor.queue(isSuspended: true)
            for _ in 0..<count {
                queue.addOperation {}
                queue.addBarrier {}
            }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("barriers, and edges over each of them") { count, executor in
            let queue = executor.queue(isSuspended: true)
            var last = queue.addOperation {}
            for _ in 0..<count {
                queue.addBarrier {}
                last = queue.addOperation(dependencies: [last]) {}
            }
            queue.isSuspended = false
            try await last.value
        },
        GrowthPair("barriers, and operations on another queue that each depend on one") { count, executor in
            let (queue, other) = (executor.queue(isSuspended: true), executor.queue())
            for _ in 0..<count { other.addOperation(dependencies: [queue.addBarrier {}]) {} }
            queue.isSuspended = false
            try await other.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("barriers, and queues that each have one which waits for that of the queue before") {
            count, executor in
            let queues = (0..<count).map { _ in executor.queue(isSuspended: true) }
            var last = queues[0].addOperation {}
            for queue in queues {
                queue.addOperation {}
                last = queue.addBarrier(dependencies: [last]) {}
            }
            for queue in queues { queue.isSuspended = false }
            try await last.value
        },
    ]
}
