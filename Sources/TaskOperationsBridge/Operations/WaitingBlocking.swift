public import TaskOperations

extension AnyTaskOperation {
    /// Blocks the calling thread until the operation has finished. Use this in synchronous code that cannot change yet.
    /// In asynchronous code, await `waitUntilFinished()`.
    ///
    /// On the main thread, the call blocks all code that is isolated to the main actor. If the operation needs the main
    /// actor, a call without a timeout never returns. If a body calls this without a timeout, it lends its permit
    /// meanwhile.
    ///
    /// - Parameter timeout: The maximum time to block. If nil, the time is unlimited. A timeout does not cancel the
    ///   operation.
    /// - Throws: `BridgeError.timedOut` if the time is up.
    ///   - `BridgeError.blockingCooperativePool` at once, on a thread of the cooperative pool.
    ///   - `TaskOperationError.waitCycle` if the operation waits for the calling body.
    @available(*, noasync, message: "await waitUntilFinished() instead")
    public func waitUntilFinishedBlocking(timeout: Duration? = nil) throws {
        if isFinished { return }
        try block(until: "\(OperationLabel(self))", timeout: timeout) { () throws(TaskOperationError) in
            try await self.waitToTheEnd()
        }
    }
}

extension TaskOperationQueue {
    /// Blocks the calling thread until the queue is empty. Use this in synchronous code that cannot change yet. In
    /// asynchronous code, await `waitUntilAllOperationsAreFinished()`.
    ///
    /// - Parameter timeout: The maximum time to block. If nil, the time is unlimited. A timeout does not cancel the
    ///   operations.
    /// - Throws: `BridgeError.timedOut` if the time is up.
    ///   - `BridgeError.blockingCooperativePool` at once, on a thread of the cooperative pool.
    ///   - `TaskOperationError.waitCycle` in a body of this queue.
    @available(*, noasync, message: "await waitUntilAllOperationsAreFinished() instead")
    public func waitUntilAllOperationsAreFinishedBlocking(timeout: Duration? = nil) throws {
        if operationCount == 0 { return }
        let target = "the last operation of \(name.map { "queue \"\($0)\"" } ?? "an unnamed queue")"
        try block(until: target, timeout: timeout) { () throws(TaskOperationError) in
            try await self.waitToTheEnd()
        }
    }
}

/// Blocks the calling thread until a wait is over.
///
/// - Throws: `BridgeError.timedOut`, or the error that the wait throws. On a thread of the cooperative pool, throws
///   `BridgeError.blockingCooperativePool`.
private func block(
    until target: String, timeout: Duration?, _ wait: @escaping @Sendable () async throws(TaskOperationError) -> Void
) throws {
    if CooperativePool.isCurrent { throw BridgeError.blockingCooperativePool(waitingFor: target) }
    let blocking = BlockingWait(isUnlimited: timeout == nil, wait)
    if try !blocking.block(for: timeout) { throw BridgeError.timedOut(waitingFor: target, after: timeout!) }
}
