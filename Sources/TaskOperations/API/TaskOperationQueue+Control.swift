extension TaskOperationQueue {
    /// The width of the queue, which is the number of bodies that may execute at once. It must not be negative.
    ///
    /// Raising the width starts operations at once. Lowering the width stops no body. With a width of 0, no operation
    /// starts. After the queue's owner was released, a width of 0 has the effect of 1.
    public var maxConcurrentOperationCount: Int {
        get { scheduler.width }
        set {
            Self.checkWidth(newValue)
            scheduler.withCore { $0.state.setWidth(newValue) }
        }
    }

    /// Whether the queue is suspended. A suspended queue starts no operation. Operations that are executing continue, also
    /// with further attempts of `OperationOptions.retry(_:)`. To hold back attempts, too, pause their clock, a
    /// `PausableClock` of TaskOperationsExtras, or give the operations a limit with a capacity of 0, which also holds back
    /// attempts that follow without a pause.
    ///
    /// A release of the queue's owner ends the suspension. By default, the queue then resumes and runs all operations
    /// that it holds, for example uploads after a logout. To cancel them instead, set `Configuration.whenReleased` to
    /// `.cancel`. Afterwards, the queue can no longer be suspended.
    public var isSuspended: Bool {
        get { scheduler.isSuspended }
        set { scheduler.isSuspended = newValue }
    }

    /// The rate at which operations start; nil if permits alone limit the starts.
    ///
    /// A change applies at once. Used tokens remain used.
    public var rate: OperationRate? {
        get { scheduler.withCore { $0.state.pace.rate } }
        set {
            if newValue != nil { scheduler.prepareClock() }
            scheduler.withCore { $0.state.setRate(newValue) }
        }
    }

    /// The operations that have not finished, in the order in which they were added. Sorts the operations.
    public var operations: [AnyTaskOperation] { scheduler.operations }

    /// The number of operations that have not finished.
    public var operationCount: Int { scheduler.operationCount }

    /// Cancels all unfinished operations. Operations that are added afterwards are not cancelled.
    ///
    /// If the call cancels an operation and one of its dependencies, the operation does not start. The operations are
    /// cancelled one after the other. Another thread may therefore see an operation that is cancelled and an operation
    /// that is not yet cancelled.
    ///
    /// The call does not change finished operations. Code that awaits the value of a finished operation, and a handler
    /// of `whenFinished`, can still receive the value after the call.
    ///
    /// - Parameters:
    ///   - cause: The error of operations that have not started. An executing operation finishes with the result of its
    ///     body. The body can read the cause from `AnyTaskOperation.cancellationCause`.
    ///   - queuedOnly: Whether to cancel only operations that have not started.
    public func cancelAllOperations(throwing cause: any Error = CancellationError(), queuedOnly: Bool = false) {
        scheduler.cancelAll(throwing: cause, unstartedOnly: queuedOnly)
    }

    /// Waits until the queue is empty, including operations that are added during the wait. The wait blocks no thread.
    /// `operationCount` is 0 at the moment when the wait ends.
    ///
    /// Cancelling the task ends the wait and cancels no operation. The wait raises no priorities. If the queue is
    /// suspended and not empty, the wait cannot end before the queue is resumed or its operations are cancelled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the queue is empty. `TaskOperationError.waitCycle`
    ///   if the caller is the body of an operation of this queue, or if an operation of this queue waits for the
    ///   caller's operation.
    public func waitUntilAllOperationsAreFinished() async throws {
        let isOver = try await scheduler.waitUntilEmpty(QueueWait())
        if !isOver { throw CancellationError() }
    }
}

extension TaskOperationQueue {
    /// Like `waitUntilAllOperationsAreFinished()`, but cancelling the task does not end the wait.
    package func waitToTheEnd() async throws(TaskOperationError) {
        _ = try await scheduler.waitUntilEmpty(QueueWait(endsWhenCancelled: false))
    }
}

// MARK: - Shutting down

extension TaskOperationQueue {
    /// The rule for operations that were added before `shutDown`.
    public enum Shutdown: Sendable {
        /// The operations finish as usual.
        case drain
        /// The operations are cancelled.
        case cancel
    }

    /// Shuts the queue down. An operation that is added later fails at once with `TaskOperationError.queueShutDown`.
    ///
    /// A suspended queue remains suspended. To empty a suspended queue, cancel its operations.
    public func shutDown(_ manner: Shutdown = .drain) {
        switch manner {
        case .drain: scheduler.shutDown()
        case .cancel: scheduler.cancelAll(andSet: .shut)
        }
    }

    /// Shuts the queue down and waits until it is empty. The wait blocks no thread. Operations that have not finished
    /// in time are cancelled. The call also waits for bodies that ignore their cancellation.
    ///
    /// If the calling task is cancelled, the remaining operations are cancelled at once. A suspended queue remains
    /// suspended.
    ///
    /// ```swift
    /// try await queue.shutDown(cancellingAfter: .seconds(10))
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The time that operations have to finish.
    ///   - clock: The clock that measures the limit.
    /// - Throws: `TaskOperationError.waitCycle` if the caller is the body of an operation of this queue, or if an
    ///   operation of this queue waits for the caller's operation. In both cases the queue is shut down, but no
    ///   operation is cancelled.
    public func shutDown(
        cancellingAfter limit: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(TaskOperationError) {
        scheduler.shutDown()
        try await scheduler.waitUntilEmpty(cancellingAfter: limit, clock: clock)
    }
}

// MARK: - Limits of a priority

extension TaskOperationQueue {
    /// Limits the number of permits that operations of one priority may take at once. Other permits remain for
    /// operations of other priorities.
    ///
    /// The limit applies to the priority by which the queue orders operations, which includes the priority inherited
    /// from dependents. While a priority is at its limit, operations of lower priorities start. Raising the limit
    /// starts operations at once. Lowering the limit stops no operation. An operation whose weight exceeds the limit
    /// runs alone within its priority.
    ///
    /// ```swift
    /// let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
    /// queue.setMaxConcurrentOperationCount(1, for: .background)   // three are left for urgent operations
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of permits; not negative. With 0, no operation of the priority starts. After the queue's
    ///     owner was released, 0 has the effect of 1. `.max` removes the limit.
    ///   - priority: The priority. A value between two levels is treated as the lower level.
    public func setMaxConcurrentOperationCount(_ count: Int, for priority: TaskPriority) {
        require(
            count >= 0,
            """
            maxConcurrentOperationCount is \(count) for a priority; it must not be negative. Pass \
            .max for no limit.
            """)
        scheduler.withCore { $0.state.setCap(count, at: PriorityLevel(priority)) }
    }

    /// Returns the number of permits that operations of a priority may take at once. Returns
    /// `.max` if only the width limits this number.
    public func maxConcurrentOperationCount(for priority: TaskPriority) -> Int {
        scheduler.withCore { $0.state.permits.caps.map { $0[PriorityLevel(priority)].capacity } ?? .max }
    }
}

extension TaskOperationQueue {
    /// The number of waiting claims. A claim is a set of limits that the queue needs to start an operation.
    package var claimCount: Int {
        scheduler.withCore { core in
            core.state.limited.map { limited in limited.sets.slots.count { limited.isClaimed($0) } } ?? 0
        }
    }
}
