import TaskOperations
import TaskOperationsTesting

extension GrowthPair {
    static let graphs = [
        GrowthPair("operations, and edges between them that are made in a random order") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let operations = (0..<count).map { _ in queue.addOperation {} }
            var random = SeededGenerator(seed: 1)
            for (one, next) in zip(operations, operations.dropFirst()).shuffled(using: &random) {
                try next.addDependency(one)
            }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("operations, and edges of one that waits for all") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let last = queue.addOperation {}
            for _ in 0..<count { try last.addDependency(queue.addOperation {}) }
            queue.isSuspended = false
            try await last.value
        },
        GrowthPair("edges that are made and taken away, and operations that wait for their dependent") {
            count, executor in
            let queue = executor.queue(isSuspended: true)
            let (first, last) = (queue.addOperation {}, queue.addOperation {})
            for _ in 0..<count { queue.addOperation(dependencies: [last]) {} }
            for _ in 0..<count {
                try last.addDependency(first)
                try last.removeDependency(first)
            }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("operations, and queues that each take turns with the others") { count, executor in
            let queues = (0..<count).map { _ in executor.queue(width: 1, isSuspended: true) }
            let operations = (0..<2 * count).map { queues[$0 % count].addOperation {} }
            for queue in queues { queue.isSuspended = false }
            for operation in operations { try await operation.value }
        },
        GrowthPair("queues, and edges of a chain over all of them, from the first to the last") { count, executor in
            let queues = (0..<count).map { _ in executor.queue(width: 1, isSuspended: true) }
            var last = queues[0].addOperation {}
            for queue in queues { last = queue.addOperation(dependencies: [last]) {} }
            for queue in queues.reversed() { queue.isSuspended = false }
            try await last.value
        },
        GrowthPair("queues, and edges of a chain over all of them, from the last to the first") { count, executor in
            let queues = (0..<count).map { _ in executor.queue(width: 1, isSuspended: true) }
            let operations = queues.map { _ in TaskOperation {} }
            for (one, next) in zip(operations, operations.dropFirst()) { try one.addDependency(next) }
            for (queue, operation) in zip(queues, operations) { try queue.addOperation(operation) }
            for queue in queues { queue.isSuspended = false }
            try await operations[0].value
        },
    ]
}
