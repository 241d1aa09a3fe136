public import Foundation
internal import Synchronization
internal import TaskOperations
internal import TaskOperationsExtras

extension OperationQueue {
    /// Waits until the queue is empty, without blocking a thread. Also waits for barriers, and for operations that are
    /// added meanwhile. On a suspended queue with operations, the wait lasts until the queue is resumed.
    ///
    /// If an operation of a `BridgedOperationQueue` makes the call, waits for all other operations. A call by an
    /// unstructured task of an operation waits for that operation, too.
    public func finished() async {
        if let bridged = self as? BridgedOperationQueue { return await bridged.allFinished() }
        repeat {
            for operation in operations { await operation.finished() }
            // `operations` does not list barriers. Only another barrier can wait for a barrier.
            if operations.isEmpty {
                let isReached = Promise<Void>()
                addBarrierBlock { isReached.provide(()) }
                await isReached.value
            }
        } while !operations.isEmpty
    }

    /// Runs a synchronous closure as an operation of the queue, and waits for the value without blocking a thread.
    ///
    /// Cancelling the calling task cancels the operation. If the operation has not started, the closure never runs, and
    /// the call throws at once, even on a suspended queue.
    ///
    /// - Parameters:
    ///   - name: The name of the operation.
    ///   - body: The closure.
    /// - Returns: The value that the closure returns.
    /// - Throws: The error that the closure throws, or `CancellationError` if the operation was cancelled before its
    ///   start.
    public func run<Value: Sendable>(
        name: String? = nil, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let run = QueuedRun(body)
        run.name = name
        return try await withTaskCancellationHandler {
            addOperation(run)
            return try await run.outcome.value.get()
        } onCancel: {
            run.cancel()
        }
    }

    /// Runs an asynchronous closure as an operation of the queue, and waits for the value. The operation occupies a
    /// place in the queue's width until the closure has ended. The closure runs on its actor, or on the cooperative
    /// pool if it has no actor.
    ///
    /// Cancelling the calling task cancels the operation.
    ///
    /// - Parameters:
    ///   - name: The name of the operation.
    ///   - body: The closure.
    /// - Returns: The value that the closure returns.
    /// - Throws: The error that the closure throws, or `CancellationError` if the operation was cancelled before its
    ///   start.
    public func run<Value: Sendable>(
        name: String? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let operation = TaskOperation(name: name, priority: Task.currentPriority, body: body)
        try addOperation(operation)
        return try await withTaskCancellationHandler {
            try await operation.value
        } onCancel: {
            operation.cancel()
        }
    }
}

/// An operation that runs a closure and provides the outcome.
private final class QueuedRun<Value: Sendable>: Foundation.Operation, @unchecked Sendable {  // `body` is a lock.
    private let body: Lock<(@Sendable () throws -> Value)?>
    let outcome = Promise<Result<Value, any Error>>()

    init(_ body: @escaping @Sendable () throws -> Value) {
        self.body = Lock(body)
    }

    override func main() {
        guard let body = body.withLock({ $0.take() }) else { return }
        outcome.provide(Result { try body() })
    }

    override func cancel() {
        super.cancel()
        let isInTime = body.withLock { $0.take() } != nil
        if isInTime { outcome.provide(.failure(CancellationError())) }
    }
}
