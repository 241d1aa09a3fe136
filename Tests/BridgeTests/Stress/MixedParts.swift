import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting

/// A queue of any of the three kinds.
enum AnyQueue {
    case foundation(OperationQueue)
    case ours(TaskOperationQueue)
    case bridged(BridgedOperationQueue)

    static func random(using generator: inout SeededGenerator) -> AnyQueue {
        let width = Int.random(in: 1...4, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            return .foundation(queue)
        case 1:
            return .ours(TaskOperationQueue(maxConcurrentOperationCount: width))
        default:
            return .bridged(BridgedOperationQueue(name: nil, maxConcurrentOperationCount: width))
        }
    }

    func add(_ operation: AnyOperation) throws {
        switch (self, operation) {
        case (.foundation(let queue), .foundation(let operation)): queue.addOperation(operation)
        case (.foundation(let queue), .ours(let operation)): try queue.addOperation(operation)
        case (.ours(let queue), .foundation(let operation)): try queue.addOperation(operation)
        case (.ours(let queue), .ours(let operation)): try queue.addOperation(operation)
        case (.bridged(let queue), .foundation(let operation)): queue.addOperation(operation)
        case (.bridged(let queue), .ours(let operation)): try queue.addOperation(operation)
        }
    }

    var isFoundations: Bool { if case .foundation = self { true } else { false } }

    func finished() async throws {
        switch self {
        case .foundation(let queue): await queue.finished()
        case .bridged(let queue): await queue.finished()
        case .ours(let queue): try await queue.waitUntilAllOperationsAreFinished()
        }
    }
}

/// An operation of either library.
enum AnyOperation {
    case foundation(Foundation.Operation)
    case ours(AnyTaskOperation)

    var isFinished: Bool {
        switch self {
        case .foundation(let operation): operation.isFinished
        case .ours(let operation): operation.isFinished
        }
    }

    var isCancelled: Bool {
        switch self {
        case .foundation(let operation): operation.isCancelled
        case .ours(let operation): operation.isCancelled
        }
    }

    func cancel() {
        switch self {
        case .foundation(let operation): operation.cancel()
        case .ours(let operation): operation.cancel()
        }
    }

    /// Prepares the operation as its class requires before it is added.
    func prepare() {
        if case .foundation(let operation as ConditionedOperation) = self { operation.willEnqueue() }
    }

    /// Adds the operation to another queue of this library. This call throws if the operation was added before.
    func addAgain() throws {
        switch self {
        case .foundation(let operation): try TaskOperationQueue().addOperation(operation)
        case .ours(let operation): try TaskOperationQueue().addOperation(operation)
        }
    }

    func finished() async throws {
        switch self {
        case .foundation(let operation): await operation.finished()
        case .ours(let operation): try await operation.waitUntilFinished()
        }
    }

    func addDependency(_ other: AnyOperation) throws {
        switch (self, other) {
        case (.foundation(let operation), .foundation(let other)): operation.addDependency(other)
        case (.foundation(let operation), .ours(let other)): try operation.addDependency(other)
        case (.ours(let operation), .foundation(let other)): try operation.addDependency(other)
        case (.ours(let operation), .ours(let other)): try operation.addDependency(other)
        }
    }
}
