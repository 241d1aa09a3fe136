extension TaskOperationQueue {
    /// Makes an operation that becomes ready after some time, and adds it: the form of `asyncAfter` that can be
    /// cancelled.
    ///
    /// Until then it is pending and holds no permit, as if it depended on an operation that lasts so long. The time
    /// begins with this call, also where the queue is suspended. Cancelling the operation ends the wait at once.
    ///
    /// ```swift
    /// let timeout = queue.addOperation(name: "timeout", delay: .seconds(30)) { connection.close() }
    /// timeout.cancel()
    /// ```
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of the queue.
    ///   - delay: How long it is pending at least.
    ///   - tolerance: By how much the delay may be longer for the sake of energy; the clock's own choice where none
    ///     is given.
    ///   - clock: What measures the delay.
    ///   - dependencies: Operations that have to be finished too, whatever comes of them.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Success, C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        delay: C.Duration,
        tolerance: C.Duration? = nil,
        clock: C = ContinuousClock(),
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let deadline = clock.now.advanced(by: delay)
        let label = name.map { "delay of \"\($0)\"" } ?? "delay"
        let timer = TaskOperation(name: label, priority: priority) {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        }
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies + [timer], body: body)
        operation.addCompletionHandler { timer.cancel() }
        timer.startNew()
        addNew(operation)
        return operation
    }
}

extension AnyTaskOperation {
    /// Starts an operation that was just made, and that nothing can have added.
    fileprivate func startNew() {
        do {
            try start()
        } catch {
            preconditionFailure("a new operation could not be started: \(error)")
        }
    }
}
