// The steps of an operation's life. Each is taken under the operation's lock; what follows from one is carried out
// after the lock is left.

extension AnyTaskOperation {
    /// What a host needs to know of an operation.
    struct Standing: Sendable {
        let slot: Int
        let isReady: Bool
        let hasEnded: Bool
        let level: PriorityLevel
        /// Something waits for the operation, so that it can be part of a cycle.
        let isWaitedFor: Bool
        let hasDependencies: Bool
    }

    /// What came of an attempt to start.
    enum Start: Sendable {
        /// It executes. The level is higher than its task's where something urgent came to wait for it just now. The
        /// executor is where it wants to run.
        case executes(escalation: PriorityLevel?, executor: (any TaskExecutor)?)
        case mustWait
        case hasEnded
    }

    /// How the operation stands with its host.
    var standing: Standing { record.withLock { $0.standing } }

    /// The operation is added to a host. One that was cancelled before has ended, and stays so.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, and `.notReady` where it must be ready and is not.
    func claim(
        for host: any OperationHost, bindings: [TaskLocalBinding], mustBeReady: Bool
    ) throws(TaskOperationError) -> Standing {
        let unfinished = mustBeReady ? dependencies.filter { !$0.isFinished } : []
        return try record.withLock { record throws(TaskOperationError) in
            if record.wasSubmitted { throw .alreadyAdded(OperationLabel(self)) }
            if !unfinished.isEmpty, record.phase == .created {
                throw .notReady(OperationLabel(self), waitingFor: unfinished.map { OperationLabel($0) })
            }
            record.wasSubmitted = true
            if record.phase == .created {
                record.phase = .submitted
                record.host = host
                if !bindings.isEmpty { record.madeLinks().bindings = bindings }
            }
            return record.standing
        }
    }

    /// Undoes a claim, where the operation, or another one of the same step, was refused.
    func unclaim() {
        record.withLock { record in
            record.wasSubmitted = false
            if record.phase == .submitted {
                record.phase = .created
                record.host = nil
                record.slot = -1
            }
        }
    }

    /// The host has taken the operation in at a slot. Whatever changes from here on finds it there.
    func settle(at slot: Int) -> Standing {
        record.withLock { record in
            record.slot = Int32(slot)
            return record.standing
        }
    }

    /// The host is about to run the body on a task of this level.
    func start(on runner: OperationRunner, level: PriorityLevel) -> Start {
        record.withLock { record in
            if record.phase == .finished { return .hasEnded }
            if !record.isReady { return .mustWait }
            record.phase = .executing
            record.runner = runner
            let executor = record.links?.executor
            if record.effectiveLevel <= level { return .executes(escalation: nil, executor: executor) }
            record.isRunnerWorn = true
            return .executes(escalation: record.effectiveLevel, executor: executor)
        }
    }

    /// Runs the body as the current operation.
    ///
    /// Where it is isolated is said here, and not inherited, as `withValue` wants it said: the compiler sees then that
    /// both are the same, and leaves out two of four checks of where the task runs.
    func run(isolation: isolated (any Actor)? = #isolation) async -> Outcome? {
        await Self.$executing.withValue(self, operation: { await runBody() }, isolation: isolation)
    }

    /// Runs the body as the current operation, with the task locals that it was added with.
    func runWithTaskLocals(onMainActor: Bool) async -> Outcome? {
        let bindings = record.withLock { $0.links?.bindings ?? [] }
        return await run(within: bindings[...], onMainActor: onMainActor)
    }

    private func run(within bindings: ArraySlice<TaskLocalBinding>, onMainActor: Bool) async -> Outcome? {
        guard let binding = bindings.first else { return await onMainActor ? runOnMainActor() : run() }
        return await binding { await run(within: bindings.dropFirst(), onMainActor: onMainActor) }
    }

    @MainActor
    private func runOnMainActor() async -> Outcome? {
        await Self.$executing.withValue(self) { @MainActor in await runBody() }
    }

    /// The body is done.
    func end(_ outcome: Outcome?) -> OperationEnding {
        record.withLock { $0.end(outcome) }
    }
}

extension OperationRecord {
    var standing: AnyTaskOperation.Standing {
        AnyTaskOperation.Standing(
            slot: Int(slot), isReady: isReady, hasEnded: phase == .finished, level: effectiveLevel,
            isWaitedFor: isWaitedFor, hasDependencies: links.map { !$0.dependencies.isEmpty } ?? false)
    }
}
