import Dispatch
import Foundation
@_spi(Lock) import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting

/// The ways in which people write operations.
enum OperationStyle: CaseIterable, Sendable {
    case block
    /// Overrides `main`.
    case synchronous
    /// Overrides `start` and the states, and finishes later, on another thread.
    case asynchronous
    /// The same, finished when `start` returns.
    case finishedAtOnce
    /// Overrides `isReady`.
    case conditional
    /// Overrides all of it, evaluates conditions when asked, and has observers.
    case conditioned

    /// Makes an operation. It is ready only after `becomeReady`, if its style has a say in that.
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

/// An operation, and the call that makes its class ready.
struct StyledOperation: Sendable {
    let operation: Foundation.Operation
    let becomeReady: @Sendable () -> Void
}

/// The queues that run operations of Foundation.
enum LegacyQueue: CaseIterable, Sendable {
    case foundation, ours, bridged

    /// Makes a queue, with a subclass that prepares operations if there is a base class.
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
    /// Adds an operation as its class wants to be added.
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
