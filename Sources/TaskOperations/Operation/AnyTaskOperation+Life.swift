// The steps of an operation's life. Each is taken under the operation's lock; what follows from one is carried out
// after the lock is left.

extension AnyTaskOperation {
    /// What came of an attempt to start.
    enum Start: Sendable {
        case executes
        /// It executes, but something more urgent came to wait for it just now.
        case executesEscalated(PriorityLevel)
        case mustWait
        case hasEnded
    }

    /// What a host needs to know of an operation.
    struct Standing: Sendable {
        let slot: Int
        let isReady: Bool
        let hasEnded: Bool
        let level: PriorityLevel

        init(_ record: OperationRecord) {
            slot = record.slot
            isReady = record.isReady
            hasEnded = record.phase == .finished
            level = record.effectiveLevel
        }
    }

    /// The operation is added to a host. One that was cancelled before has ended, and stays so.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, and `.notReady` where it must be ready and is not.
    func claim(
        for host: any OperationHost, bindings: [TaskLocalBinding], mustBeReady: Bool
    ) throws(TaskOperationError) {
        let unfinished = mustBeReady ? dependencies.filter { !$0.isFinished } : []
        try record.withLock { record throws(TaskOperationError) in
            if record.wasSubmitted { throw .alreadyAdded(OperationLabel(self)) }
            if !unfinished.isEmpty, record.phase == .created {
                throw .notReady(OperationLabel(self), waitingFor: unfinished.map { OperationLabel($0) })
            }
            record.wasSubmitted = true
            if record.phase == .finished { return }
            record.phase = .submitted
            record.host = host
            record.bindings = bindings
        }
    }

    /// Undoes a claim, where another operation of the same step was refused.
    func unclaim() {
        record.withLock { record in
            record.wasSubmitted = false
            if record.phase == .submitted {
                record.phase = .created
                record.host = nil
            }
        }
    }

    var isWaitedFor: Bool { record.withLock { $0.isWaitedFor } }

    /// The host has taken the operation in at a slot. Returns how it stands.
    func settle(at slot: Int) -> Standing {
        record.withLock { record in
            record.slot = slot
            return Standing(record)
        }
    }

    /// How the operation stands with its host.
    var standing: Standing { record.withLock { Standing($0) } }

    /// The host is about to run the body on a task of this level.
    func start(on runner: any OperationRunner, level: PriorityLevel) -> Start {
        record.withLock { record in
            if record.phase == .finished { return .hasEnded }
            if !record.isReady { return .mustWait }
            record.phase = .executing
            record.runner = runner
            if record.effectiveLevel <= level { return .executes }
            record.isRunnerWorn = true
            return .executesEscalated(record.effectiveLevel)
        }
    }

    /// Runs the body with the task locals that it was added with. Returns what it threw.
    nonisolated(nonsending) func run() async -> (any Error)? {
        let bindings = record.withLock { $0.bindings }
        return await bindings.isEmpty ? runBody() : run(within: bindings[...])
    }

    private nonisolated(nonsending) func run(within bindings: ArraySlice<TaskLocalBinding>) async -> (any Error)? {
        guard let binding = bindings.first else { return await runBody() }
        return await binding { await run(within: bindings.dropFirst()) }
    }

    /// The body is done.
    func end(failure: (any Error)?) -> OperationEnding {
        record.withLock { OperationEnding(of: &$0, failure: failure) }
    }

    /// Marks the operation as cancelled. Before its start it is finished at once, with `CancellationError`, also on
    /// a suspended queue and with unfinished dependencies; its body never runs, and its dependents go on. While it
    /// executes, its task is cancelled, and the body decides what to do. Afterwards, or a second time, nothing
    /// happens.
    public func cancel() {
        endBeforeStart(CancellationError(), isCancellation: true)
    }

    /// Ends the operation where it has not started; cancels its task where it has.
    func endBeforeStart(_ failure: any Error, isCancellation: Bool) {
        let (ending, runner) = record.withLock { record -> (OperationEnding?, (any OperationRunner)?) in
            if record.phase == .finished || (isCancellation && record.isCancelled) { return (nil, nil) }
            if isCancellation { record.isCancelled = true }
            if record.phase == .executing {
                record.isRunnerWorn = true
                return (nil, record.runner)
            }
            return (OperationEnding(of: &record, failure: failure), nil)
        }
        runner?.cancel()
        if let ending { carryOutUnstarted(ending) }
    }

    private func carryOutUnstarted(_ ending: OperationEnding) {
        discardBody()
        for dependent in ending.dependents { dependent.dependencyFinished(self)?.readinessChanged(of: dependent) }
        ending.host?.endedBeforeStart(self)
        guard ending.hasHandlers else { return ending.resumeWaiters() }
        Task.detached(priority: effectivePriority) {
            ending.callHandlers(self)
            ending.resumeWaiters()
        }
    }
}
