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
    ///   - flags: `.barrier` runs the block alone on a concurrent queue: after earlier blocks and before later ones.
    ///   - work: The block. It does not run in a task, so it can read neither task locals nor a cancellation.
    /// - Throws: The error that the block throws, or `CancellationError` if the task is cancelled before the block
    ///   starts. In that case, the block is not run.
    public func run<Value: Sendable>(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await CancellableCall.make(work) { call in async(qos: qos, flags: flags, execute: call) }
    }
}
