import Foundation
import Simulation
import TaskOperations

// Calls on waiting operations. The time of these calls is measured, without the time of the additions.

extension Case {
    /// The clock stops when all operations have ended. `OperationQueue` does not end a cancelled operation while the
    /// queue is suspended, so every queue is resumed.
    static let cancelAll = Case(
        "cancel-all", "pending, cancelled with all others", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(.init(isSuspended: true))
                await mainThread.run {
                    for _ in 0..<count { queue.addOperation {} }
                }
                return try await measure(count, on: queue) { queue in
                    await mainThread.run {
                        queue.cancelAllOperations()
                        queue.isSuspended = false
                    }
                    try await queue.waitUntilAllOperationsAreFinished()
                }
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 2, isSuspended: true)
                await mainThread.run {
                    for _ in 0..<count { queue.addOperation {} }
                }
                return await measure(count, on: queue) { queue in
                    await mainThread.run {
                        queue.cancelAllOperations()
                        queue.isSuspended = false
                        queue.waitUntilAllOperationsAreFinished()
                    }
                }
            },
            Subject(.taskGroupSemaphore) { count in
                let semaphore = AsyncSemaphore(capacity: 0)
                return await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<count {
                        group.addTask { _ = try? await semaphore.withPermit {} }
                    }
                    while semaphore.waitingCount < count { await Task.yield() }
                    return await measure(count, on: semaphore) { _ in
                        group.cancelAll()
                        await group.waitForAll()
                    }
                }
            },
        ])

    /// Changes the priority of each operation once, in random order. Then the queue is emptied outside the measured
    /// time.
    static let priorityChange = Case(
        "priority-change", "pending, given another priority", sizes: [100_000],
        subjects: [
            Subject(.taskOperationQueue) { count in
                let queue = TaskOperationQueue(.init(isSuspended: true))
                let priorities: [TaskPriority] = [.background, .low, .high]
                let operations = await mainThread.run { (0..<count).map { _ in queue.addOperation {} } }.mixed
                let measurement = await measure(count, on: operations) { operations in
                    await mainThread.run {
                        for index in operations.indices { operations[index].priority = priorities[index % 3] }
                    }
                }
                queue.isSuspended = false
                try await queue.waitUntilAllOperationsAreFinished()
                return measurement
            },
            Subject(.operationQueue) { count in
                let queue = OperationQueue(width: 2, isSuspended: true)
                let priorities: [Operation.QueuePriority] = [.veryLow, .low, .high]
                let operations = (0..<count).map { _ in BlockOperation {} }.mixed
                await mainThread.run { queue.addOperations(operations, waitUntilFinished: false) }
                let measurement = await measure(count, on: operations) { operations in
                    await mainThread.run {
                        for index in operations.indices { operations[index].queuePriority = priorities[index % 3] }
                    }
                }
                queue.isSuspended = false
                await mainThread.run { queue.waitUntilAllOperationsAreFinished() }
                return measurement
            },
        ])
}

extension Array {
    /// The elements in a random order, which is the same in every run.
    fileprivate var mixed: [Element] {
        var random = SeededChoices(seed: 1)
        return shuffled(using: &random)
    }
}
