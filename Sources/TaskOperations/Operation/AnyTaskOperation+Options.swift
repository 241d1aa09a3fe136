// Options are stored unchanged until the operation is added to a queue. The queue's defaults then supply the options
// that are not set.

import Synchronization

extension AnyTaskOperation {
    /// Adds options to an existing operation. The option `name` has no effect.
    ///
    /// ```swift
    /// try operation.addOptions([.weight(2), .limited(by: database)])
    /// try queue.addOperation(operation)
    /// ```
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was added to a queue or started. The errors of
    ///   `addDependency(_:)` for a dependency among the options. If the call throws, options other than dependencies do
    ///   not change.
    public func addOptions(_ options: OperationOptions) throws(TaskOperationError) {
        let values = options.values
        for dependency in values.dependencies { try addDependency(dependency) }
        let (isTooLate, replaced) = record.withLock { record in
            if record.wasSubmitted || record.phase != .created { return (true, nil as OperationOptions?) }
            let replaced = record.options
            record.add(options, values)
            return (false, replaced)
        }
        extendLifetime(replaced)
        if isTooLate { throw .alreadyAdded(OperationLabel(self)) }
    }

    /// The number of permits that the body takes from its queue while it executes. See `OperationOptions.weight(_:)`.
    public var weight: Int { record.withLock { Int($0.weight) } }

    /// The semaphores that limit the operation, in the order in which they were created. The operation takes permits
    /// of each semaphore. See `OperationOptions.limited(by:)`.
    public var limits: [AsyncSemaphore] { limitRequests.map(\.limit) }

    /// Whether the operation takes permits of a key of a semaphore. False if the operation has ended.
    ///
    /// ```swift
    /// for operation in queue.operations where operation.isLimited(by: hosts, key: "example.com") {
    ///     operation.cancel()
    /// }
    /// ```
    public func isLimited(by limit: AsyncSemaphore, key: some Hashable & Sendable) -> Bool {
        let key = limit.interned(key)
        defer { extendLifetime(key) }
        return limitRequests.contains { $0.limit === limit && $0.key === key }
    }

    /// The limits of the operation, in the order in which they are taken.
    var limitRequests: [LimitRequest] { record.withLock { $0.links?.limits ?? [] } }

    /// The options of the operation, completed by the defaults of its queue.
    var completedOptions: OptionValues {
        let (options, host) = record.withLock { ($0.options, $0.host) }
        return OptionValues(options, defaults: host?.defaults)
    }

    /// Starts the delays and limits that begin when the operation is added. Called when a queue has accepted the
    /// operation and cannot start it yet.
    func beginOptions() {
        // Reading all options would add 900 instructions to an operation that only has limits.
        let (isNeeded, limits) = record.withLock { record in
            (record.hasTimedOptions || record.host?.defaults != nil, record.links?.limits ?? [])
        }
        endIfTooHeavy(for: limits)
        if !isNeeded { return }
        let options = completedOptions
        if options.surroundBody { surroundBody() }
        guard options.beginAtAddition, !isFinished else { return }
        if let delay = options.delay?.remaining { beginDelay(delay, on: options.chosenClock) }
        if options.startLimit != nil || options.endLimit != nil {
            OperationTimers(options).begin(for: self)
        }
    }

    /// Ends the operation with an error if a limit has never had as many permits as the operation needs.
    private func endIfTooHeavy(for limits: [LimitRequest]) {
        for request in limits {
            guard let error = request.limit.excess(request.weight, hasKey: request.key != nil) else { continue }
            endUnlessStarted(error, isCancellation: false)
            return
        }
    }

    /// Ends the operation, because a time limit passed before it was added.
    func endLate() {
        record.withLock { $0.links?.timers }?.endPassed(self)
    }

    /// Reverts `beginOptions`, because the host refused the operation.
    func revokeOptions() {
        let (timers, isDelayed) = record.withLock { record in
            record.isLate = false
            return (record.links?.timers, record.isDelayed)
        }
        timers?.end()
        if isDelayed { Deadlines.remove(self) }
    }
}

extension OperationRecord {
    /// Adds options, whose values the caller has determined, to the operation's options.
    mutating func add(_ added: OperationOptions, _ values: OptionValues) {
        if let priority = values.priority {
            level = PriorityLevel(priority)
            isPriorityGiven = true
        }
        let lasting = added.lasting
        if lasting.isEmpty { return }
        if values.surroundBody || values.beginAtAddition { hasTimedOptions = true }
        if let weight = values.weight { self.weight = UInt16(weight) }
        let sum = options?.adding(lasting)
        options = sum ?? lasting
        if !values.limits.isEmpty { setLimits((sum.map { $0.values.limits } ?? values.limits).ordered) }
    }

    /// Updates the weight, the limits and the priority from the operation's options. The defaults of a queue supply
    /// options that are not set.
    ///
    /// - Parameter defaults: The defaults of the queue; nil if the operation has left the queue.
    mutating func complete(by defaults: OperationOptions?) {
        let values = OptionValues(options, defaults: defaults)
        weight = UInt16(values.weight ?? 1)
        if hasLimits || !values.limits.isEmpty { setLimits(values.limits.ordered) }
        if !isPriorityGiven { level = values.priority.map { PriorityLevel($0) } ?? .medium }
    }

    private mutating func setLimits(_ limits: [LimitRequest]) {
        madeLinks().limits = limits
        hasLimits = !limits.isEmpty
    }
}
