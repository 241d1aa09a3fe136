import TaskOperations
import TaskOperationsTesting

extension GrowthPair {
    /// Each of these calls would visit all waiting objects if it walked the graph to search for cycles or to pass on
    /// priorities.
    static let searches = [
        GrowthPair("operations and barriers between them that are given another priority") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let operations = (0..<count).flatMap { _ in
                [queue.addOperation(priority: .low) {}, queue.addBarrier(.priority(.low)) {}]
            }
            for operation in operations { operation.priority = .medium }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("operations and barriers between them, each awaited urgently") { count, executor in
            let queue = executor.queue(isSuspended: true)
            let operations = (0..<count).flatMap { _ in
                [queue.addOperation(priority: .low) {}, queue.addBarrier(.priority(.low)) {}]
            }
            let tasks = await executor.awaitUrgently(operations)
            queue.isSuspended = false
            for task in tasks { await task.value }
        },
        GrowthPair("operations and barriers between them, each of which another queue depends on urgently") {
            count, executor in
            let (queue, other) = (executor.queue(isSuspended: true), executor.queue())
            let operations = (0..<count).flatMap { _ in
                [queue.addOperation(priority: .low) {}, queue.addBarrier(.priority(.low)) {}]
            }
            for operation in operations { other.addOperation(priority: .high, dependencies: [operation]) {} }
            queue.isSuspended = false
            try await other.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("additions after a body has awaited the end of their queue, and links of a chain they depend on") {
            count, executor in
            let (queue, other, foreign) = (executor.queue(), executor.queue(), executor.queue(isSuspended: true))
            let last = chain(count, on: foreign).last!
            let gate = Gate()
            queue.addOperation { await gate.pass() }
            let waiting = other.addOperation {
                gate.open()
                try await queue.waitUntilAllOperationsAreFinished()
            }
            try await waiting.value
            for _ in 0..<count { queue.addOperation(dependencies: [last]) {} }
            foreign.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
        },
        GrowthPair("additions while a body awaits the end of their queue, and links of a chain they depend on") {
            count, executor in
            let (queue, other, foreign) = (executor.queue(), executor.queue(), executor.queue(isSuspended: true))
            let last = chain(count, on: foreign).last!
            let gate = Gate()
            queue.addOperation { await gate.pass() }
            let begun = Gate()
            let waiting = other.addOperation {
                begun.open()
                try await queue.waitUntilAllOperationsAreFinished()
            }
            await begun.pass()
            for _ in 0..<100 { await Task.yield() }
            for _ in 0..<count { queue.addOperation(dependencies: [last]) {} }
            gate.open()
            foreign.isSuspended = false
            try await waiting.value
        },
        GrowthPair("operations that a scope of a body adds, and links of the chain outside they depend on") {
            count, executor in
            let outer = executor.queue(isSuspended: true)
            let last = chain(count, on: outer).last!
            try await executor.queue().addOperation {
                try await withTaskOperationQueue(.init(executor: executor)) { scope in
                    let dependents = (0..<count).map { _ in scope.addOperation(dependencies: [last]) {} }
                    outer.isSuspended = false
                    for dependent in dependents { try await dependent.value }
                }
            }.value
        },
    ]
}
