import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting

/// The common ways to write an operation.
enum OperationStyle: CaseIterable, Sendable {
    case block
    /// Overrides `main`.
    case synchronous
    /// Overrides `start` and the states, and finishes later on another thread.
    case asynchronous
    /// Overrides `start` and the states, and finishes before `start` returns.
    case finishedAtOnce
    /// Overrides `isReady`.
    case conditional
    /// Overrides `start`, the states and `isReady`, evaluates conditions on request, and has observers.
    case conditioned

    /// Creates an operation. If the style overrides `isReady`, the operation is ready only after `becomeReady`.
    func make(_ work: @escaping @Sendable () -> Void) -> StyledOperation {
        switch self {
        case .block:
            return StyledOperation(operation: BlockOperation(block: work)) {}
        case .synchronous:
            return StyledOperation(operation: SynchronousOperation { _ in work() }) {}
        case .asynchronous:
            let operation = AsynchronousOperation { operation in
                work()
                DispatchQueue.global().async { operation.finish() }
            }
            return StyledOperation(operation: operation) {}
        case .finishedAtOnce:
            let operation = AsynchronousOperation { operation in
                work()
                operation.finish()
            }
            return StyledOperation(operation: operation) {}
        case .conditional:
            let operation = ConditionalOperation(work: work)
            return StyledOperation(operation: operation) { operation.fulfil() }
        case .conditioned:
            return makeConditioned(work)
        }
    }

    private func makeConditioned(_ work: @escaping @Sendable () -> Void) -> StyledOperation {
        let promise = Lock<(isKept: Bool, satisfied: (@Sendable () -> Void)?)>((false, nil))
        let operation = ConditionedOperation(
            condition: { satisfied in
                let isKept = promise.withLock { promise in
                    promise.satisfied = satisfied
                    return promise.isKept
                }
                if isKept { satisfied() }
            },
            work: { operation in
                work()
                operation.finish()
            })
        return StyledOperation(operation: operation) {
            let satisfied = promise.withLock { promise in
                promise.isKept = true
                return promise.satisfied.take()
            }
            satisfied?()
        }
    }
}

/// An operation, and the function that makes its class report that it is ready.
struct StyledOperation: Sendable {
    let operation: Foundation.Operation
    let becomeReady: @Sendable () -> Void
}

/// The queues that run operations of Foundation.
enum LegacyQueue: CaseIterable, Sendable {
    case foundation, ours, bridged

    /// Creates a queue. If the kind has a base class to subclass, the queue is a subclass that prepares operations.
    func make(width: Int, isSuspended: Bool) -> AnyQueue {
        switch self {
        case .foundation, .bridged:
            let queue: OperationQueue = self == .bridged ? PreparingBridgedQueue() : PreparingOperationQueue()
            queue.maxConcurrentOperationCount = width
            queue.isSuspended = isSuspended
            return .foundation(queue)
        case .ours:
            return .ours(TaskOperationQueue(.init(maxConcurrentOperationCount: width, isSuspended: isSuspended)))
        }
    }
}

extension AnyQueue {
    /// Adds an operation after the preparation that its class requires.
    func add(prepared operation: Foundation.Operation) throws {
        if case .ours = self { (operation as? ConditionedOperation)?.willEnqueue() }
        try add(.foundation(operation))
    }

    func resume() {
        switch self {
        case .foundation(let queue): queue.isSuspended = false
        case .bridged(let queue): queue.isSuspended = false
        case .ours(let queue): queue.isSuspended = false
        }
    }
}
