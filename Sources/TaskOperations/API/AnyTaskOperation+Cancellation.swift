import Synchronization

extension AnyTaskOperation {
    /// Cancels the operation.
    ///
    /// If the operation has not started, it finishes at once with `CancellationError`, even on a suspended queue or
    /// with unfinished dependencies. Its body never runs, and its dependents no longer wait for it. If the operation is
    /// executing, its task is cancelled, and the body decides how to end. If the operation has finished, or was
    /// cancelled before, the call has no effect.
    ///
    /// An operation of `TaskOperationQueue.main` starts on the main actor. If code on the main actor cancels the
    /// operation before its body begins, the body never runs.
    ///
    /// On another queue, the body may be isolated to an actor. The operation is already executing while the body waits
    /// for that actor. Such a body should check `Task.isCancelled` first.
    public func cancel() {
        endOrCancel(CancellationError(), isCancellation: true)
    }

    /// Cancels the operation with an error as the cause. If the operation has not started, it finishes with `cause`
    /// instead of `CancellationError`. If the operation is executing, its task is cancelled, and its body can read the
    /// cause from `cancellationCause`.
    ///
    /// - Parameters:
    ///   - cause: The cause.
    ///   - queuedOnly: Whether to cancel the operation only if it has not started. The call then has no effect on an
    ///     executing operation, which is not marked as cancelled either.
    public func cancel(throwing cause: any Error = CancellationError(), queuedOnly: Bool = false) {
        if queuedOnly {
            endUnlessStarted(cause, isCancellation: true)
        } else {
            endOrCancel(cause, isCancellation: true)
        }
    }

    /// Cancels the operation, and its direct and indirect inputs that nothing else needs. An input is needed if another
    /// added operation depends on it, a task awaits it, or it has a completion handler.
    package func cancelWithUnneededInputs() {
        var rest = inputs
        cancel()
        while let input = rest.popLast() {
            let next = input.inputs
            let hasEndedUnstarted = input.perform { record, worker in
                input.isFinished || record.isNeeded
                    ? .none : input.end(&record, worker, CancellationError(), isCancellation: true)
            }
            if hasEndedUnstarted { rest += next }
        }
    }

    private var inputs: [AnyTaskOperation] { record.withLock { $0.links?.dependencies.inputs ?? [] } }

    /// The error that caused the cancellation of the executing body. Nil if the body was not cancelled, or if no body
    /// is executing.
    ///
    /// The cause is the argument of `cancel(throwing:)` or `cancelAllOperations(throwing:)`. If a timeout has
    /// passed, the cause is `TaskOperationError.timedOut`. Otherwise it is `CancellationError`.
    ///
    /// An awaited call may throw `CancellationError`, which contains no cause. The body can then throw the cause
    /// instead:
    ///
    /// ```swift
    /// do {
    ///     try await upload(file)
    /// } catch is CancellationError {
    ///     throw AnyTaskOperation.current?.cancellationCause ?? CancellationError()
    /// }
    /// ```
    public var cancellationCause: (any Error)? { worker?.cancellationCause }

    /// Ends the operation if it has not started and meets a condition. Returns whether this call ended it.
    @discardableResult
    func endUnlessStarted(
        _ failure: any Error, isCancellation: Bool, if condition: (borrowing OperationRecord) -> Bool = { _ in true }
    ) -> Bool {
        perform { record, worker in
            phase < .executing && condition(record)
                ? end(&record, worker, failure, isCancellation: isCancellation) : .none
        }
    }

    /// Ends an operation that was refused because of its limits, unless it has started.
    func endUnlessStarted(_ refusal: LimitRefusal) {
        perform { record, _ in
            if phase >= .executing { return .none }
            let scheduler = record.scheduler
            return .end(end(&record, refusal), scheduler)
        }
    }

    /// Ends the operation if it has not started. Otherwise cancels its task. Marks the operation as cancelled only if
    /// `isCancellation` is true.
    package func endOrCancel(_ failure: any Error, isCancellation: Bool) {
        endOrCancel(failure, isCancellation: isCancellation) { _ in true }
    }

    /// Does nothing if the operation does not meet the condition.
    func endOrCancel(_ failure: any Error, isCancellation: Bool, if condition: (borrowing OperationRecord) -> Bool) {
        perform { record, worker in
            condition(record) ? end(&record, worker, failure, isCancellation: isCancellation) : .none
        }
    }

    /// Ends the operation without an error if it has not started. Its body never runs.
    package func finishExternally() {
        perform { record, _ in
            if phase >= .executing { return .none }
            let scheduler = record.scheduler
            return .end(end(&record, nil), scheduler)
        }
    }

    /// Calls a function that may end the operation before its start, and performs the effects that the function returns.
    /// Returns whether the operation ended before its start.
    @discardableResult
    private func perform(_ end: (inout OperationRecord, Worker?) -> CancellationEffect) -> Bool {
        let (effect, effects) = inOneStepWithQueue(end)
        // Tasks that wait until the queue is empty continue after the dependents are told.
        if case .end(let ending, let scheduler) = effect {
            scheduler?.noteFailure(of: self)
            notifyDependents(endedUnstarted: ending)
        }
        effects.perform()
        switch effect {
        case .none: return false
        case .cancel(let worker, let cause):
            worker?.cancel(throwing: cause)
            return false
        case .end(let ending, let scheduler):
            performUnstartedEnd(ending, scheduler)
            return true
        }
    }

    /// Ends the operation if it has not started. Otherwise decides on the cancellation of its task.
    private func end(
        _ record: inout OperationRecord, _ worker: Worker?, _ failure: any Error, isCancellation: Bool
    ) -> CancellationEffect {
        let phase = phase
        if isCancellation {
            if record.isCancelled { return .none }
            record.cancellation = phase == .finished ? .afterEnd : .cancelled
        }
        switch phase {
        case .finished: return .none
        case .created, .added:
            let scheduler = record.scheduler
            return .end(end(&record, Outcome(.failure(failure))), scheduler)
        case .executing:
            worker?.isWorn = true
            return .cancel(worker, cause: failure)
        }
    }

    /// Cancels an operation that has been added and has not started. For any other operation, returns nil and changes
    /// nothing. Called under the lock of the queue.
    func cancelUnstarted(_ outcome: Outcome) -> OperationEnding? {
        record.withLock { record in
            guard phase == .added else { return nil }
            record.cancellation = .cancelled
            return end(&record, outcome)
        }
    }

    /// Tells the dependents that this operation has ended before its start. If the operation has handlers, does
    /// nothing, because the dependents then wait for the handlers.
    func notifyDependents(endedUnstarted ending: OperationEnding) {
        if !ending.hasHandlers { notifyDependents(ending) }
    }

    /// Performs the remaining effects after an operation has ended before its start. Called after
    /// `notifyDependents(endedUnstarted:)`.
    ///
    /// Handlers are called in a separate task, because the caller of `cancel()` may hold a lock that the handlers need.
    /// Dependents and waiting tasks continue after the handlers.
    func performUnstartedEnd(_ ending: OperationEnding, _ scheduler: Scheduler?) {
        discardBody()
        if ending.wasDelayed { Deadlines.remove(self) }
        ending.endOptions()
        ending.leaveDependencies(self)
        if ending.hasHandlers {
            HandlerTasks.run(on: scheduler?.handlerExecutor, at: effectivePriority) { [self] in
                ending.callHandlers(self)
                notifyDependentsAndWaiters(ending)
            }
        } else {
            ending.resumeWaiters()
        }
    }

    func notifyDependentsAndWaiters(_ ending: OperationEnding) {
        notifyDependents(ending)
        ending.resumeWaiters()
    }

    private func notifyDependents(_ ending: OperationEnding) {
        ending.forEachDependent { dependent in
            dependent.dependencyFinished(self)?.scheduler.readinessChanged(of: dependent)
        }
    }
}

/// The effects that are performed after the operation's lock is released.
private enum CancellationEffect: Sendable {
    case none
    case cancel(Worker?, cause: any Error)
    case end(OperationEnding, Scheduler?)
}

extension OperationRecord {
    /// Whether another operation, a task or a handler needs the outcome.
    fileprivate var isNeeded: Bool {
        guard let links else { return false }
        let hasHandlers = links.extras.map { $0.handlers.count > $0.ownHandlerCount } ?? false
        return hasHandlers || !links.dependents.isEmpty || !links.waiters.isEmpty
    }
}
