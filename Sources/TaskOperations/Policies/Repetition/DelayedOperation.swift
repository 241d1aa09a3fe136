extension TaskOperationQueue {
    /// Makes an operation that becomes ready after some time, and adds it: the form of `asyncAfter` that can be
    /// cancelled.
    ///
    /// Until then it is pending and holds no permit. The time begins with this call, even if the queue is suspended.
    /// Cancelling the operation ends the wait at once.
    ///
    /// ```swift
    /// let timeout = queue.addOperation(name: "timeout", delay: .seconds(30)) { connection.close() }
    /// timeout.cancel()
    /// ```
    ///
    /// All that is delayed on one clock shares one sleeping task. Adding and cancelling are logarithmic in the number of
    /// delays that are pending on the clock. A clock is recognized by its value: two of one type that hold the same are
    /// one.
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of the queue.
    ///   - delay: How long it is pending at least. A duration that is not positive delays nothing.
    ///   - clock: What measures the delay.
    ///   - dependencies: Operations that have to be finished too, whatever comes of them.
    ///   - body: The work.
    @inlinable  // In the caller, the types are known: see `addOperation` without a delay.
    @discardableResult
    public func addOperation<Success, C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        delay: Duration,
        clock: C = ContinuousClock(),
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> where C.Duration == Duration {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body: body)
        addNew(operation, after: delay, on: clock)
        return operation
    }

    /// As above, for a clock with durations of its own. Each delay has a sleeping task.
    @discardableResult
    public func addOperation<Success, C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        delay: C.Duration,
        clock: C,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body: body)
        delayByTask(operation, delay: delay, clock: clock)
        addNew(operation)
        return operation
    }

    /// Makes an operation that becomes ready at a moment of a clock, and adds it. It is as one with a delay.
    ///
    /// ```swift
    /// queue.addOperation(at: .now + .seconds(30)) { connection.close() }
    /// ```
    ///
    /// - Parameters:
    ///   - moment: Until when it is pending at least. A moment that has passed delays nothing.
    ///   - clock: The clock of that moment.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Success, C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        at moment: C.Instant,
        clock: C = ContinuousClock(),
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> where C.Duration == Duration {
        let now = clock.now
        return addOperation(
            name: name, priority: priority, delay: moment <= now ? .zero : now.duration(to: moment), clock: clock,
            dependencies: dependencies, body: body)
    }

    /// Adds an operation that was just made, which is not ready before a deadline.
    @usableFromInline
    package func addNew<C: Clock>(
        _ operation: AnyTaskOperation, after delay: Duration, on clock: C
    ) where C.Duration == Duration {
        if !Deadlines.add(operation, after: delay, on: clock) { delayByTask(operation, delay: delay, clock: clock) }
        addNew(operation)
    }

    private func delayByTask<C: Clock>(_ operation: AnyTaskOperation, delay: C.Duration, clock: C) {
        let start = clock.now
        let timer = TaskOperation(name: operation.name.map { "delay of \"\($0)\"" } ?? "delay") {
            try await clock.sleep(for: delay, from: start)
        }
        operation.addCompletionHandler { timer.cancel() }
        do {
            try operation.addDependency(timer)
        } catch {
            preconditionFailure("a new operation refused its delay: \(error)")
        }
        timer.startNew()
    }
}
