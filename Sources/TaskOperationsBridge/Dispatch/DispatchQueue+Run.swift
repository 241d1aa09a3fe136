public import Dispatch
internal import TaskOperations
internal import TaskOperationsExtras

extension DispatchQueue {
    /// Runs a block on the queue, and waits for its result without blocking a thread.
    ///
    /// ```swift
    /// let count = try await index.run { entries.count }
    /// try await index.run(flags: .barrier) { entries.removeAll() }  // alone, on a concurrent queue
    /// ```
    ///
    /// - Parameters:
    ///   - qos: The quality of service of the block.
    ///   - flags: The flags of the block. `.barrier` runs the block alone on a concurrent queue, after all earlier
    ///     blocks and before all later blocks.
    ///   - work: The block. It does not run in a task. It cannot read task locals, and it cannot notice a cancellation.
    /// - Throws: The error that the block throws. If the task is cancelled before the block starts, throws
    ///   `CancellationError` and does not run the block.
    public func run<Value: Sendable>(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await CancellableCall.make(work) { call in async(qos: qos, flags: flags, execute: call) }
    }
}
