extension TaskOperation {
    /// Sets policies of an operation that was not added yet: whether its body is tried again, and how long it may take.
    ///
    /// It is for operations that get values of others, or are made elsewhere; for a closure, `addOperation` of the queue
    /// takes the same parameters. A second call puts its policies around those of the first: a time limit that was set
    /// before `retry` limits each attempt by itself. An operation that has used up a limit is not tried again.
    ///
    /// ```swift
    /// let page = TaskOperation(after: address) { try await load($0) }
    /// try page.setPolicies(retry: .immediately(attempts: 3), timeLimit: .seconds(30))
    /// try queue.addOperation(page)
    /// ```
    ///
    /// - Parameters:
    ///   - retry: Whether and when the body runs again after a failure.
    ///   - timeLimit: How long it may take from the start, all attempts and pauses included; not negative.
    ///   - overrun: What becomes of the operation if its body ignores its cancellation after that.
    ///   - clock: What measures pauses and the limit.
    /// - Throws: `TaskOperationError.alreadyStarted` if the operation has started or ended.
    public func setPolicies<C: Clock>(
        retry: RetryPolicy? = nil, timeLimit: Duration? = nil, overrun: TimeLimitOverrun = .wait,
        clock: C = ContinuousClock()
    ) throws(TaskOperationError) where C.Duration == Duration {
        try setPolicies(retry, timeLimit, nil, overrun, clock)
    }

    fileprivate func setPolicies<C: Clock>(
        _ retry: RetryPolicy?, _ timeLimit: Duration?, _ deadline: Duration?, _ overrun: TimeLimitOverrun, _ clock: C
    ) throws(TaskOperationError) where C.Duration == Duration {
        if let retry { try self.retry(retry, clock: clock) }
        let shared = deadline.map { _ in OperationTimeLimit(overrun, clock: clock) }
        if let timeLimit {
            try limitTime(to: timeLimit, clock: clock) { shared ?? OperationTimeLimit(overrun, clock: clock) }
        }
        if let deadline, let shared { try limitTimeFromNow(to: deadline, shared, clock: clock) }
    }
}

extension TaskOperationQueue {
    /// Makes an operation whose body is tried again after failures, and adds it.
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of the queue, and is its task's own.
    ///   - retry: Whether and when the body runs again after a failure.
    ///   - timeLimit: How long it may take from the start, all attempts and pauses included; not negative. Then the body
    ///     is cancelled, and the outcome is `TaskOperationError.timedOut`.
    ///   - deadline: The same, from this call.
    ///   - overrun: What becomes of the operation if its body ignores that cancellation.
    ///   - clock: What measures pauses and limits.
    ///   - dependencies: Operations that have to be finished first, whatever comes of them.
    ///   - body: The work. `RetryPolicy.attempt` is the number of the attempt.
    @discardableResult
    public func addOperation<Success, C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        retry: RetryPolicy,
        timeLimit: Duration? = nil,
        deadline: Duration? = nil,
        overrun: TimeLimitOverrun = .wait,
        clock: C = ContinuousClock(),
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> where C.Duration == Duration {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body: body)
        addNew(operation, retry, timeLimit, deadline, overrun, clock)
        return operation
    }

    /// Makes an operation that may take so long from its start, and adds it.
    ///
    /// When the time is over, the body is cancelled, and the outcome is `TaskOperationError.timedOut`, which names the
    /// operation. If there are several limits, the earliest counts. The time begins right before the body, as for the
    /// `TimeoutObserver` of ProcedureKit.
    ///
    /// ```swift
    /// let page = queue.addOperation(name: "load", timeLimit: .seconds(30)) { try await load(url) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of the queue, and is its task's own.
    ///   - timeLimit: How long the body may take; not negative.
    ///   - deadline: How long it may be from this call to the end of the body; not negative. Before its start the
    ///     operation is finished at once when the time is over.
    ///   - overrun: What becomes of the operation if its body ignores its cancellation.
    ///   - clock: What measures limits.
    ///   - dependencies: Operations that have to be finished first, whatever comes of them.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Success, C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        timeLimit: Duration,
        deadline: Duration? = nil,
        overrun: TimeLimitOverrun = .wait,
        clock: C = ContinuousClock(),
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> where C.Duration == Duration {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body: body)
        addNew(operation, nil, timeLimit, deadline, overrun, clock)
        return operation
    }

    /// Makes an operation that has to be finished so long after this call, and adds it.
    ///
    /// When the time is over, an operation that has not started is finished at once, also on a suspended queue and with
    /// unfinished dependencies; otherwise its body is cancelled. The outcome is `TaskOperationError.timedOut`.
    ///
    /// - Parameters:
    ///   - deadline: How long it may be from this call to the end of the body; not negative.
    ///   - overrun: What becomes of the operation if its body ignores its cancellation.
    ///   - clock: What measures that.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Success, C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        deadline: Duration,
        overrun: TimeLimitOverrun = .wait,
        clock: C = ContinuousClock(),
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> where C.Duration == Duration {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body: body)
        addNew(operation, nil, nil, deadline, overrun, clock)
        return operation
    }

    /// Adds an operation that has to be finished so long after this call.
    ///
    /// - Throws: As without a deadline.
    public func addOperation<Success, C: Clock>(
        _ operation: TaskOperation<Success>, deadline: Duration, overrun: TimeLimitOverrun = .wait,
        clock: C = ContinuousClock()
    ) throws(TaskOperationError) where C.Duration == Duration {
        let time = OperationTimeLimit(overrun, clock: clock)
        let limit = try operation.limitTimeFromNow(to: deadline, time, clock: clock)
        do {
            try addOperation(operation)
        } catch {
            limit.end()
            throw error
        }
    }

    private func addNew<Success, C: Clock>(
        _ operation: TaskOperation<Success>, _ retry: RetryPolicy?, _ timeLimit: Duration?, _ deadline: Duration?,
        _ overrun: TimeLimitOverrun, _ clock: C
    ) where C.Duration == Duration {
        do {
            try operation.setPolicies(retry, timeLimit, deadline, overrun, clock)
        } catch {
            preconditionFailure("a new operation refused its policies: \(error)")
        }
        addNew(operation)
    }
}
