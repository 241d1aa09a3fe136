import Synchronization

extension AnyTaskOperation {
    /// Waits until the operation has finished, with any outcome. The wait blocks no thread.
    ///
    /// The operation and all operations for which it waits inherit the priority of the waiting task. If that priority
    /// increases during the wait, they inherit the increase. Cancelling the task ends the wait and does not cancel the
    /// operation.
    ///
    /// A body that waits keeps its permit, unless the awaited operation needs a permit of the same queue. The awaited
    /// operation may need the permit itself, or through other operations. The body then lends its permit until the wait
    /// ends, so that a queue cannot deadlock on itself.
    ///
    /// A wait in a child task is treated as a wait of the body, even if the body continues. An unstructured task is not
    /// part of the body, even if the body awaits that task. The waits of an unstructured task lend no permit.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the operation has finished.
    ///   `TaskOperationError.waitCycle` if a body awaits an operation that cannot end before the body does.
    // Inlined in `value`. A separate frame would add 1 % to the cost of an operation that is awaited on an idle queue.
    @inline(__always)
    public func waitUntilFinished() async throws {
        if isFinished { return }
        var isOver = true
        try await Self.withWaitEdge(.operation(self)) { isOver = await suspendUntilFinished(endsEarly: true) }
        if !isOver { throw CancellationError() }
    }

    /// Waits until the operation has finished, for a limited time. See `waitUntilFinished()`.
    ///
    /// - Parameters:
    ///   - timeout: The longest duration of the wait.
    ///   - clock: The clock that measures the timeout.
    /// - Throws: `WaitTimeoutError` if the operation has not finished in time. The operation then continues. Otherwise
    ///   the errors of `waitUntilFinished()`.
    public func waitUntilFinished(timeout: Duration, clock: any Clock<Duration> = ContinuousClock()) async throws {
        if isFinished { return }
        let (number, isTimeUp) = (Rank.next(), AtomicFlag())
        var isOver = true
        try await Self.withWaitEdge(.operation(self)) {
            isOver = await withTimeLimit(timeout, clock: clock) {
                await suspendUntilFinished(number: number, endsEarly: true) { isTimeUp.isSet }
            } onTimeout: { [self] in
                isTimeUp.set()
                leaveWait(number)
            }
        }
        if isOver { return }
        try Task.checkCancellation()
        throw WaitTimeoutError("\(OperationLabel(self)) to finish", timeout: timeout)
    }

    /// Like `waitUntilFinished()`, but cancelling the task does not end the wait.
    package func waitToTheEnd() async throws(TaskOperationError) {
        if isFinished { return }
        try await Self.withWaitEdge(.operation(self)) { _ = await suspendUntilFinished(endsEarly: false) }
    }

    /// Suspends the task until the operation is finished.
    ///
    /// - Parameters:
    ///   - number: The unique number of the wait. `leaveWait` with this number ends the wait.
    ///   - endsEarly: Whether the wait ends when the task is cancelled.
    ///   - hasLeft: Called once, after the wait is registered. Returns true if the wait must end, because `leaveWait`
    ///     was called before its registration.
    /// - Returns: Whether the operation is finished.
    @inline(__always)
    func suspendUntilFinished(
        number: Int = Rank.next(), endsEarly: Bool, hasLeft: () -> Bool = { false }
    ) async -> Bool {
        await withWaitHandlers(endsWhenCancelled: endsEarly) { priority in
            raiseWaiter(number, to: PriorityLevel(priority))
        } end: {
            leaveWait(number)
        } register: { continuation in
            arrive(continuation, number, endsEarly: endsEarly)
            if hasLeft() { leaveWait(number) }
        }
    }

    private func arrive(_ continuation: WaitContinuation<Bool>, _ number: Int, endsEarly: Bool) {
        let (isFinished, following) = record.withLock { record -> (Bool?, Inheritance.Following?) in
            if record.phase == .finished { return (true, nil) }
            // The cancellation and the priority are read under the lock. Therefore no change before the registration is
            // missed.
            if endsEarly && Task.isCancelled { return (false, nil) }
            let level = PriorityLevel(Task.currentPriority)
            record.madeLinks().waiters.append(continuation, number: number, level: level)
            return (nil, record.inherit(from: nil, to: level, of: self))
        }
        if let isFinished { continuation.resume(returning: isFinished) }
        if let following { Inheritance.propagate(following) }
    }

    private func raiseWaiter(_ number: Int, to level: PriorityLevel) {
        guard let before = record.withLock({ $0.links?.waiters.raise(number, to: level) }) else { return }
        Inheritance.propagate(.init(target: .operation(self), from: before, to: level))
    }

    /// Ends a wait if it is in progress.
    package func leaveWait(_ number: Int) {
        guard let (continuation, level) = record.withLock({ $0.links?.waiters.remove(number) }) else { return }
        Inheritance.propagate(.init(target: .operation(self), from: level, to: nil))
        continuation.resume(returning: false)
    }
}
