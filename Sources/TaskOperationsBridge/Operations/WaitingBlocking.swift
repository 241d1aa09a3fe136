public import TaskOperations

extension AnyTaskOperation {
    /// Blocks the calling thread until the operation has finished. Use it in synchronous callers that cannot change
    /// yet. Asynchronous callers await `waitUntilFinished()`.
    ///
    /// On the main thread it blocks all code that is isolated to the main actor, including the operation's body. In a
    /// body that runs on a thread that may block, the permit is lent meanwhile, unless a timeout is given.
    ///
    /// - Parameter timeout: The maximum time to block; nil for no limit. The operation continues afterwards.
    /// - Throws: `BridgeError.blockingCooperativePool`, at once, on a thread of the cooperative pool;
    ///   `BridgeError.timedOut`; `TaskOperationError.waitCycle` in a body that the operation waits for.
    @available(*, noasync, message: "await waitUntilFinished() instead")
    public func waitUntilFinishedBlocking(timeout: Duration? = nil) throws {
        if isFinished { return }
        try block(until: "\(OperationLabel(self))", timeout: timeout) { () throws(TaskOperationError) in
            try await self.waitToTheEnd()
        }
    }
}

extension TaskOperationQueue {
    /// Blocks the calling thread until the queue is empty. Use it in synchronous callers that cannot change yet.
    /// Asynchronous callers await `waitUntilAllOperationsAreFinished()`.
    ///
    /// - Parameter timeout: The maximum time to block; nil for no limit. The operations continue afterwards.
    /// - Throws: `BridgeError.blockingCooperativePool`, at once, on a thread of the cooperative pool;
    ///   `BridgeError.timedOut`; `TaskOperationError.waitCycle` in a body of this queue.
    @available(*, noasync, message: "await waitUntilAllOperationsAreFinished() instead")
    public func waitUntilAllOperationsAreFinishedBlocking(timeout: Duration? = nil) throws {
        if operationCount == 0 { return }
        let target = "the last operation of \(name.map { "queue \"\($0)\"" } ?? "an unnamed queue")"
        try block(until: target, timeout: timeout) { () throws(TaskOperationError) in
            try await self.waitToTheEnd()
        }
    }
}

/// Blocks the calling thread until a wait is over. It must not be a thread of the cooperative pool.
///
/// - Throws: `BridgeError`, or the error that the wait throws.
private func block(
    until target: String, timeout: Duration?, _ wait: @escaping @Sendable () async throws(TaskOperationError) -> Void
) throws {
    if CooperativePool.isCurrent { throw BridgeError.blockingCooperativePool(waitingFor: target) }
    let blocking = BlockingWait(isUnlimited: timeout == nil, wait)
    if try !blocking.block(for: timeout) { throw BridgeError.timedOut(waitingFor: target, after: timeout!) }
}
