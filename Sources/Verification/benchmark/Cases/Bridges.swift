import Foundation
import TaskOperations
import TaskOperationsBridge

/// The cost of a mixture of old code and this library, compared with old code alone.
extension Case {
    /// No operation starts before every dependency is added.
    static let bridgedDependency = Case(
        "bridge", variant: "dependency", "empty, in pairs: one of Foundation, and one that depends on it",
        sizes: [bridgeSize],
        subjects: [
            Subject(.taskOperationQueue) { try await Bridges.dependencyOfOurs($0) },
            Subject(.operationQueue) { await Bridges.dependencyOfFoundation($0) },
        ])

    static let bridgedRun = Case(
        "bridge", variant: "legacy block", "a block operation of Foundation, empty, width 2", sizes: [bridgeSize],
        subjects: [
            Subject(.taskOperationQueue) { try await Bridges.legacyBlocks($0) },
            Subject(.bridgedOperationQueue) { await Bridges.operations($0, on: bridgedQueue()) },
            Subject(.operationQueue) { await Bridges.operations($0, on: OperationQueue(width: 2)) },
        ])

    static let bridgedAdding = Case(
        "bridge", variant: "addOperation", "a closure, empty, width 2", sizes: [bridgeSize],
        subjects: [
            Subject(.bridgedOperationQueue) { await Bridges.closures($0, on: bridgedQueue()) },
            Subject(.operationQueue) { await Bridges.closures($0, on: OperationQueue(width: 2)) },
        ])

    private static let bridgeSize = 20_000

    private static func bridgedQueue() -> BridgedOperationQueue {
        BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 2)
    }
}

private enum Bridges {
    static func dependencyOfOurs(_ count: Int) async throws -> Measurement {
        let legacyQueue = OperationQueue(width: 2, isSuspended: true)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        return try await measure(count, on: (legacyQueue, queue)) { legacyQueue, queue in
            await mainThread.run {
                for _ in 0..<count / 2 {
                    let legacy = BlockOperation {}
                    queue.addOperation(dependencies: [legacy.asTaskOperation]) {}
                    legacyQueue.addOperation(legacy)
                }
                legacyQueue.isSuspended = false
            }
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    static func dependencyOfFoundation(_ count: Int) async -> Measurement {
        let first = OperationQueue(width: 2, isSuspended: true)
        return await measure(count, on: (first, OperationQueue(width: 2))) { first, second in
            await mainThread.run {
                for _ in 0..<count / 2 {
                    let legacy = BlockOperation {}
                    let dependent = BlockOperation {}
                    dependent.addDependency(legacy)
                    second.addOperation(dependent)
                    first.addOperation(legacy)
                }
                first.isSuspended = false
                second.waitUntilAllOperationsAreFinished()
            }
        }
    }

    static func legacyBlocks(_ count: Int) async throws -> Measurement {
        try await measure(count, on: TaskOperationQueue(maxConcurrentOperationCount: 2)) { queue in
            await mainThread.run {
                for _ in 0..<count { try! queue.addOperation(BlockOperation {}) }  // never rejects new operations
            }
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    static func operations(_ count: Int, on queue: OperationQueue) async -> Measurement {
        await measure(count, on: queue) { queue in
            await mainThread.run {
                for _ in 0..<count { queue.addOperation(BlockOperation {}) }
                queue.waitUntilAllOperationsAreFinished()
            }
        }
    }

    static func closures(_ count: Int, on queue: OperationQueue) async -> Measurement {
        await measure(count, on: queue) { queue in
            await mainThread.run {
                for _ in 0..<count { queue.addOperation {} }
                queue.waitUntilAllOperationsAreFinished()
            }
        }
    }
}
