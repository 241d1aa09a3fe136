import TaskOperations
import TaskOperationsTesting

extension GrowthPair {
    static let cancellations = [
        GrowthPair("operations, and cancellations of each in a random order") { count, executor in
            let queue = executor.queue(isSuspended: true)
            var random = SeededGenerator(seed: 1)
            for operation in (0..<count).map({ _ in queue.addOperation {} }).shuffled(using: &random) {
                operation.cancel()
            }
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("operations that wait for one, and cancellations of each as soon as it is there") {
            count, executor in
            let queue = executor.queue(isSuspended: true)
            let first = queue.addOperation {}
            for _ in 0..<count { queue.addOperation(dependencies: [first]) {} }
            for _ in 0..<count { queue.addOperation(dependencies: [first]) {}.cancel() }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("edges of a chain, and cancellations of its links in a random order") { count, executor in
            let queue = executor.queue(isSuspended: true)
            var random = SeededGenerator(seed: 1)
            for link in chain(count, on: queue).shuffled(using: &random) { link.cancel() }
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("barriers that are cancelled, and operations that are added between") { count, executor in
            let queue = executor.queue(isSuspended: true)
            for _ in 0..<count {
                queue.addOperation {}
                queue.addBarrier {}.cancel()
            }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("barriers, and cancellations of them in a random order") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let barriers = (0..<count).map { _ in
                queue.addOperation {}
                return queue.addBarrier {}
            }
            var random = SeededGenerator(seed: 1)
            for barrier in barriers.shuffled(using: &random) { barrier.cancel() }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("tasks that await one operation, and cancellations of these tasks") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let operation = queue.addOperation {}
            let tasks = await executor.awaitUrgently(Array(repeating: operation, count: count))
            for task in tasks { task.cancel() }
            queue.isSuspended = false
            for task in tasks { await task.value }
        },
        GrowthPair("tasks that wait for a semaphore, and cancellations of them in a random order") {
            count, executor in
            let semaphore = AsyncSemaphore(capacity: 0)
            var tasks = (0..<count).map { _ in
                Task(executorPreference: executor) { try await semaphore.withPermit {} }
            }
            while semaphore.waitingCount < count { await Task.yield() }
            var random = SeededGenerator(seed: 1)
            tasks.shuffle(using: &random)
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
        },
        GrowthPair("scopes, and cancellations of the tasks around them") { count, executor in
            let gate = Gate()
            let tasks = (0..<count).map { _ in
                Task(executorPreference: executor) {
                    try await withTaskOperationQueue(.init(executor: executor)) { scope in
                        scope.addOperation { await gate.pass() }
                        scope.addOperation {}
                    }
                }
            }
            for task in tasks { task.cancel() }
            gate.open()
            for task in tasks { _ = await task.result }
        },
        GrowthPair("queues, and cancellations of all that is in each") { count, executor in
            let queues = (0..<count).map { _ in executor.queue(isSuspended: true) }
            var last = queues[0].addOperation {}
            for queue in queues {
                last = queue.addOperation(dependencies: [last]) {}
                queue.addOperation {}
            }
            for queue in queues.reversed() { queue.cancelAllOperations() }
            _ = await last.result
        },
    ]
}
