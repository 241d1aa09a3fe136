import TaskOperations
import TaskOperationsTesting
import TestSupport

extension GrowthPair {
    static let waits = [
        GrowthPair("operations, and tasks that each await one urgently") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let operations = (0..<count).map { _ in queue.addOperation(priority: .low) {} }
            let tasks = await executor.awaitUrgently(operations)
            queue.isSuspended = false
            for task in tasks { await task.value }
        },
        GrowthPair("edges of a chain, and tasks that each await a link urgently, the last first") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let chain = chain(count, on: queue)
            let tasks = await executor.awaitUrgently(chain.reversed())
            queue.isSuspended = false
            for task in tasks { await task.value }
        },
        GrowthPair("edges of a chain, and tasks that each await a link urgently, the first first") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let chain = chain(count, on: queue)
            let tasks = await executor.awaitUrgently(chain)
            queue.isSuspended = false
            for task in tasks { await task.value }
        },
        GrowthPair("bodies that await the end of a chain, and the links of the chain") { count, executor in
            let (queue, other) = (executor.queue(isSuspended: true), executor.queue())
            let last = chain(count, on: queue).last!
            let waiting = ConcurrencyMeter()
            for _ in 0..<count {
                other.addOperation {
                    waiting.enter()
                    _ = await last.result
                }
            }
            while waiting.total < count { await Task.yield() }
            queue.isSuspended = false
            try await other.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("queues, and bodies on each that await one on the next") { count, executor in
            let queues = (0..<count).map { _ in executor.queue(width: 1) }
            let gate = Gate()
            var last = queues[0].addOperation { await gate.pass() }
            for queue in queues {
                last = queue.addOperation { [last] in _ = await last.result }
            }
            gate.open()
            try await last.value
        },
        GrowthPair("claims that keep a permit, and operations without limits") { count, executor in
            let (hosts, memory) = (AsyncSemaphore(capacity: .max), AsyncSemaphore(capacity: 0))
            let queue = executor.queue()
            let operations = (0..<count).map { queue.addOperation([.limit(hosts, key: $0), .limit(memory)]) {} }
            for _ in 0..<count { try await queue.addOperation {}.value }
            memory.capacity = 1
            for operation in operations { try await operation.value }
        },
        GrowthPair("queues, and tasks that await the end of each") { count, executor in
            let gate = Gate()
            let queues = (0..<count).map { _ in executor.queue(width: 1) }
            for queue in queues { queue.addOperation { await gate.pass() } }
            let tasks = queues.map { queue in
                Task(executorPreference: executor) { try await queue.waitUntilAllOperationsAreFinished() }
            }
            gate.open()
            for task in tasks { try await task.value }
        },
        GrowthPair("bodies that await each other at width 1, and operations that stand behind them") {
            count, executor in
            let queue = executor.queue(width: 1)
            let gate = Gate()
            let first = queue.addOperation { await gate.pass() }
            var last = first
            for _ in 0..<count { last = queue.addOperation { [last] in _ = await last.result } }
            for _ in 0..<count { queue.addOperation {} }
            gate.open()
            try await queue.waitUntilAllOperationsAreFinished()
        },
    ]

    static func chain(_ count: Int, on queue: TaskOperationQueue) -> [TaskOperation<Void>] {
        var chain = [queue.addOperation(priority: .low) {}]
        for _ in 1..<count { chain.append(queue.addOperation(priority: .low, dependencies: [chain.last!]) {}) }
        return chain
    }
}
