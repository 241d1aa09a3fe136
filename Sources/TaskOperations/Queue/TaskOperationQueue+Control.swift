extension TaskOperationQueue {
    /// The width: the number of bodies that may execute at once; not negative. Raising the width starts operations at
    /// once; lowering it stops no body. With a width of 0, no operation starts. After the queue's owner was released, 0
    /// counts as 1.
    public var maxConcurrentOperationCount: Int {
        get { scheduler.width }
        set {
            Self.checkWidth(newValue)
            scheduler.width = newValue
        }
    }

    /// Whether the queue is suspended: it starts no operation, and executing operations continue. After the queue's
    /// owner was released, the queue can no longer be suspended.
    public var isSuspended: Bool {
        get { scheduler.isSuspended }
        set { scheduler.isSuspended = newValue }
    }

    /// The rate at which operations start; nil if they start as fast as permits allow.
    ///
    /// A change applies at once, and tokens that were used remain used. Only a queue that was created with a rate can
    /// change it, including to nil and back. On any other queue, setting a rate stops the process with a message.
    public var rate: OperationRate? {
        get { scheduler.withCore { $0.state.pace.rate?.rate } }
        set {
            require(
                scheduler.hasRate || newValue == nil,
                "\(scheduler.label) was created without a rate. Pass the first rate to its configuration.")
            scheduler.withCore { $0.state.setRate(newValue) }
        }
    }

    /// The operations that have not finished, in the order in which they were added. Sorts the operations.
    public var operations: [AnyTaskOperation] { scheduler.operations }

    /// The number of operations that have not finished.
    public var operationCount: Int { scheduler.operationCount }

    /// Cancels all unfinished operations. Operations that are added afterwards are not cancelled.
    ///
    /// If the call cancels a dependency of another operation that it also cancels, the other operation does not start.
    /// The operations are cancelled one after the other, so another thread may see one operation cancelled before the
    /// next one.
    ///
    /// - Parameters:
    ///   - cause: The error of operations that have not started. An executing operation finishes with the result of its
    ///     body, which can read the cause: see `AnyTaskOperation.cancellationCause`.
    ///   - queuedOnly: Whether to cancel only operations that have not started.
    public func cancelAllOperations(throwing cause: any Error = CancellationError(), queuedOnly: Bool = false) {
        scheduler.cancelAll(throwing: cause, unstartedOnly: queuedOnly)
    }

    /// Waits, without blocking a thread, until the queue is empty. The wait includes operations that are added during
    /// the wait. `operationCount` is 0 at the moment when the wait ends.
    ///
    /// Cancelling the task ends the wait and cancels no operation. The wait raises no priorities. If the queue is
    /// suspended and not empty, the wait cannot end before the queue is resumed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the queue is empty. `TaskOperationError.waitCycle`
    ///   if the caller is the body of an operation of this queue, or of an operation for which an operation of this
    ///   queue waits.
    public func waitUntilAllOperationsAreFinished() async throws {
        let isOver = try await scheduler.waitUntilEmpty(WaitUntilEmpty(endsWhenCancelled: true))
        if !isOver { throw CancellationError() }
    }

    /// Waits until the queue is empty, for a limited time.
    ///
    /// - Parameters:
    ///   - timeout: The longest duration of the wait.
    ///   - clock: The clock that measures it.
    /// - Throws: `WaitTimeoutError` if the queue is not empty in time, which cancels no operation; otherwise the errors
    ///   of the wait without a limit.
    public func waitUntilAllOperationsAreFinished(
        timeout: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
        let wait = WaitUntilEmpty(endsWhenCancelled: true)
        let isOver = try await withTimeLimit(timeout, clock: clock) {
            try await scheduler.waitUntilEmpty(wait)
        } onTimeout: { [scheduler] in
            scheduler.giveUp(wait)
        }
        if isOver { return }
        try Task.checkCancellation()
        throw WaitTimeoutError("all operations of \(scheduler.label) to finish", timeout: timeout)
    }
}

extension TaskOperationQueue {
    /// Like `waitUntilAllOperationsAreFinished()`, but cancelling the task does not end the wait.
    package func waitToTheEnd() async throws(TaskOperationError) {
        _ = try await scheduler.waitUntilEmpty(WaitUntilEmpty(endsWhenCancelled: false))
    }
}

// MARK: - Shutting down

extension TaskOperationQueue {
    /// The rule for operations that were added before `shutDown`.
    public enum Shutdown: Sendable {
        /// They finish as usual.
        case drain
        /// They are cancelled.
        case cancel
    }

    /// Shuts the queue down. An operation that is added later fails at once with `TaskOperationError.queueShutDown`.
    ///
    /// A suspended queue remains suspended. To empty it, cancel its operations.
    public func shutDown(_ manner: Shutdown = .drain) {
        switch manner {
        case .drain: scheduler.shutDown()
        case .cancel: scheduler.cancelAll(andSet: .shut)
        }
    }

    /// Shuts the queue down and waits, without blocking a thread, until it is empty. Operations that have not finished
    /// in time are cancelled. The wait includes bodies that ignore their cancellation.
    ///
    /// If the calling task is cancelled, the time limit ends at once. A suspended queue remains suspended.
    ///
    /// ```swift
    /// try await queue.shutDown(cancellingAfter: .seconds(10))
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The time that operations have to finish.
    ///   - clock: The clock that measures the limit.
    /// - Throws: `TaskOperationError.waitCycle` if the caller is the body of an operation of this queue, or of an
    ///   operation for which an operation of this queue waits. In this case the queue is shut down, but no operation is
    ///   cancelled.
    public func shutDown(
        cancellingAfter limit: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(TaskOperationError) {
        scheduler.shutDown()
        try await scheduler.waitUntilEmpty(cancellingAfter: limit, clock: clock)
    }
}

// MARK: - Limits of a priority

extension TaskOperationQueue {
    /// Limits the number of permits that operations of a priority may take at once, so that permits remain for other
    /// priorities.
    ///
    /// The limit applies to the priority that orders operations, which includes the priority inherited from dependents.
    /// While a priority is at its limit, operations of lower priorities start. Raising the limit starts operations at
    /// once; lowering it stops no operation. An operation whose weight exceeds the limit runs alone within its
    /// priority.
    ///
    /// ```swift
    /// let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
    /// queue.setMaxConcurrentOperationCount(1, for: .background)   // three are left for urgent operations
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of permits; not negative. With 0, no operation of the priority starts. After the queue's
    ///     owner was released, 0 counts as 1. `unlimitedConcurrentOperationCount` removes the limit.
    ///   - priority: The priority. A value between two named ones counts as the lower one.
    public func setMaxConcurrentOperationCount(_ count: Int, for priority: TaskPriority) {
        require(
            count >= 0,
            """
            maxConcurrentOperationCount is \(count) for a priority; it must not be negative. Pass \
            TaskOperationQueue.unlimitedConcurrentOperationCount to limit nothing.
            """)
        scheduler.setCap(count, at: PriorityLevel(priority))
    }

    /// Returns the number of permits that operations of a priority may take at once;
    /// `unlimitedConcurrentOperationCount` if only the width limits it.
    public func maxConcurrentOperationCount(for priority: TaskPriority) -> Int {
        scheduler.cap(at: PriorityLevel(priority))
    }
}

extension TaskOperationQueue {
    /// The number of waiting claims: sets of limits that the queue needs for an operation.
    package var claimCount: Int { scheduler.claimCount }
}
