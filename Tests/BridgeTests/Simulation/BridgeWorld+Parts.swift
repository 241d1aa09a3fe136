import Foundation
import TaskOperations
import TaskOperationsBridge

/// Detects whether an object was freed.
struct BridgeWitness {
    weak var object: AnyObject?

    init(_ operation: AnyOperation) {
        switch operation {
        case .foundation(let operation): object = operation
        case .ours(let operation): object = operation
        }
    }

    init(_ queue: AnyQueue) {
        switch queue {
        case .foundation(let queue): object = queue
        case .ours(let queue): object = queue
        case .bridged(let queue): object = queue
        }
    }
}

extension AnyOperation {
    func removeDependency(_ other: AnyOperation) throws {
        switch (self, other) {
        case (.foundation(let operation), .foundation(let other)): operation.removeDependency(other)
        case (.foundation(let operation), .ours(let other)): operation.removeDependency(other.asOperation)
        case (.ours(let operation), .foundation(let other)): try operation.removeDependency(other)
        case (.ours(let operation), .ours(let other)): try operation.removeDependency(other)
        }
    }
}

extension AnyQueue {
    /// Adds operations of both libraries; those of Foundation in one call. Returns the operations of this library that
    /// run them.
    func add(_ operations: [AnyOperation]) throws -> [AnyTaskOperation] {
        if case .ours(let queue) = self, operations.allSatisfy({ if case .foundation = $0 { true } else { false } }) {
            return try queue.addOperations(operations.compactMap(\.foundation))
        }
        if case .foundation(let queue) = self, operations.count > 1,
            operations.count == operations.compactMap(\.foundation).count
        {
            queue.addOperations(operations.compactMap(\.foundation), waitUntilFinished: false)
            return []
        }
        for operation in operations {
            if case .foundation(let queue as BridgedOperationQueue) = self {
                try AnyQueue.bridged(queue).add(operation)
            } else {
                try add(operation)
            }
        }
        return []
    }

    func setSuspended(_ isSuspended: Bool) {
        switch self {
        case .foundation(let queue): queue.isSuspended = isSuspended
        case .bridged(let queue): queue.isSuspended = isSuspended
        case .ours(let queue): queue.isSuspended = isSuspended
        }
    }

    func setWidth(_ width: Int) {
        switch self {
        case .foundation(let queue): queue.maxConcurrentOperationCount = width
        case .bridged(let queue): queue.maxConcurrentOperationCount = width
        case .ours(let queue): queue.maxConcurrentOperationCount = width
        }
    }

    func cancelAll() {
        switch self {
        case .foundation(let queue): queue.cancelAllOperations()
        case .bridged(let queue): queue.cancelAllOperations()
        case .ours(let queue): queue.cancelAllOperations()
        }
    }
}

extension AnyOperation {
    var foundation: Foundation.Operation? {
        if case .foundation(let operation) = self { operation } else { nil }
    }
}
