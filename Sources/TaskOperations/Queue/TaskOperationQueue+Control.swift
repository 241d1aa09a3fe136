extension TaskOperationQueue {
    /// The width: how many bodies may execute at once; not negative. Raising it starts work at once, lowering
    /// it stops none, and with 0 nothing starts. Once the queue's owner is released, 0 counts as 1.
    public var maxConcurrentOperationCount: Int {
        get { scheduler.width }
        set {
            Self.checkWidth(newValue)
            scheduler.width = newValue
        }
    }

    /// Whether the queue starts nothing. What executes goes on. Once the queue's owner is released, it cannot be
    /// suspended any more.
    public var isSuspended: Bool {
        get { scheduler.isSuspended }
        set { scheduler.isSuspended = newValue }
    }

    /// The rate at which operations start; nil if they start as fast as permits allow.
    ///
    /// A change applies at once: starts that have used up the burst stay used. Only a queue that was created with a rate
    /// can change it, also to nil and back; for another queue, setting a rate stops the process with a message.
    public var rate: OperationRate? {
        get { scheduler.withCore { $0.state.pace.rate?.rate } }
        set {
            require(
                scheduler.hasRate || newValue == nil,
                "\(scheduler.label) was created without a rate. Pass the first rate to its configuration.")
            scheduler.withCore { $0.state.setRate(newValue) }
        }
    }

    /// The operations that are not finished, in the order in which they were added. Sorts them.
    public var operations: [AnyTaskOperation] { scheduler.operations }

    /// How many operations are not finished.
    public var operationCount: Int { scheduler.operationCount }

    /// Cancels every operation that is not finished. Operations that are added afterwards are not cancelled.
    ///
    /// - Parameters:
    ///   - cause: The error with which operations finish that have not started. Bodies that execute end with what they
    ///     throw; they can ask for the error, see `AnyTaskOperation.cancellationCause`.
    ///   - queuedOnly: Whether operations that execute are left alone.
    public func cancelAllOperations(throwing cause: any Error = CancellationError(), queuedOnly: Bool = false) {
        scheduler.cancelAll(throwing: cause, unstartedOnly: queuedOnly)
    }

    /// Waits, without blocking a thread, until the queue is empty; what is added meanwhile is waited for too.
    /// `operationCount` is 0 at the moment when the wait ends.
    ///
    /// Cancelling the task ends the wait, and the operations go on. The wait raises no priorities. On a suspended queue it
    /// lasts until the queue is resumed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the queue is empty; `TaskOperationError.waitCycle`
    ///   in the body of an operation of this queue, or of one that such an operation waits for.
    public func waitUntilAllOperationsAreFinished() async throws {
        let isOver = try await scheduler.waitUntilEmpty(WaitUntilEmpty(endsWhenCancelled: true))
        if !isOver { throw CancellationError() }
    }

    /// Waits until the queue is empty, unless that takes longer than a limit. The wait is otherwise as without one.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait at most.
    ///   - clock: What measures that.
    /// - Throws: As without a limit; `WaitTimeoutError` when the time is up before the queue is empty. The operations go
    ///   on.
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
    /// As `waitUntilAllOperationsAreFinished()`, but cancelling the task does not end the wait.
    package func waitToTheEnd() async throws(TaskOperationError) {
        _ = try await scheduler.waitUntilEmpty(WaitUntilEmpty(endsWhenCancelled: false))
    }
}

// MARK: - Shutting down

extension TaskOperationQueue {
    /// How `shutDown` treats what was added before.
    public enum Shutdown: Sendable {
        /// It is finished as ever.
        case drain
        /// It is cancelled.
        case cancel
    }

    /// Refuses operations from now on: one that is added fails at once with `TaskOperationError.queueShutDown`.
    /// A suspended queue stays so; cancelling gets what it holds out of it.
    public func shutDown(_ manner: Shutdown = .drain) {
        switch manner {
        case .drain: scheduler.shutDown()
        case .cancel: scheduler.cancelAll(andSet: .shut)
        }
    }

    /// Refuses operations from now on, and waits, without blocking a thread, until the queue is empty. What was added
    /// before has a limited time to finish; what is left then is cancelled, and waited for too. A body that ignores its
    /// cancellation is waited for until it ends.
    ///
    /// Cancelling the task that calls this is as if the time were over. A suspended queue stays so.
    ///
    /// ```swift
    /// try await queue.shutDown(cancellingAfter: .seconds(10))
    /// ```
    ///
    /// - Parameters:
    ///   - limit: How long what was added before may take, on the clock.
    ///   - clock: What measures the limit.
    /// - Throws: `TaskOperationError.waitCycle` in the body of an operation of this queue, or of one that such an
    ///   operation waits for. The queue is shut down all the same, and nothing is cancelled.
    public func shutDown(
        cancellingAfter limit: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(TaskOperationError) {
        scheduler.shutDown()
        try await scheduler.waitUntilEmpty(cancellingAfter: limit, clock: clock)
    }
}

// MARK: - Limits of a priority

extension TaskOperationQueue {
    /// Limits how many permits operations of a priority take at once, so that those of other priorities find room.
    ///
    /// What counts is the priority by which operations are ordered: one that something urgent depends on is urgent, and
    /// moves. While a priority is at its limit, lower ones start in its place. A limit that is raised takes effect at once;
    /// one that is lowered stops nothing. An operation heavier than the limit runs alone within its priority.
    ///
    /// ```swift
    /// let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
    /// queue.setMaxConcurrentOperationCount(1, for: .background)   // three are left for what is urgent
    /// ```
    ///
    /// - Parameters:
    ///   - count: How many; not negative. With 0 nothing of the priority starts; once the queue's owner is released, 0
    ///     counts as 1. `unlimitedConcurrentOperationCount` limits nothing.
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

    /// How many permits operations of a priority may take at once; `unlimitedConcurrentOperationCount` if only the width
    /// limits that.
    public func maxConcurrentOperationCount(for priority: TaskPriority) -> Int {
        scheduler.cap(at: PriorityLevel(priority))
    }
}

extension TaskOperationQueue {
    /// How many sets of limits the queue waits for.
    package var claimCount: Int { scheduler.claimCount }
}
