internal import Foundation
internal import TaskOperations

// A node whose operation of Foundation was given to a queue of ours.

extension LegacyNode {
    /// The body of the node's operation. It is done when the operation of Foundation is finished, however long after its
    /// start that is.
    ///
    /// - Parameter isolation: Where bodies of the queue run.
    /// - Throws: `CancellationError` if the operation was cancelled, `BridgeError.inOperationQueue` if an
    ///   `OperationQueue` has it too, and `TaskOperationError.waitCycle` if it waits for an operation that waits for
    ///   it, unless that is to be reported.
    func run(isolation: isolated (any Actor)? = #isolation) async throws {
        await begin()
        try await withTaskCancellationHandler {
            _ = isolation  // A closure that does not use it would leave the actor.
            try await startWhenReady()
            await waitUntilFinished()
        } onCancel: {
            cancelLegacy()
        }
        if legacy.isCancelled { throw CancellationError() }
    }

    private func begin() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = apply { state in
                let mayGoOn = state.life.begin()
                if !mayGoOn { state.waitsForObservation = continuation }
                return mayGoOn
            }
            if mayGoOn { continuation.resume() }
        }
    }

    private func startWhenReady() async throws {
        while !legacy.isFinished {
            if !legacy.isReadyNow {
                try await waitUntilReady()
                if legacy.isCancelled, !legacy.isReadyNow { throw CancellationError() }
            } else if try await start() {
                return
            }
        }
    }

    /// Waits until an operation is ready that is not although its turn has come: its class says so, or it got a
    /// dependency late. The permit of the body that waits is lent out.
    private func waitUntilReady() async throws {
        let readiness = TaskOperation.standIn(name: "isReady of \(legacy.title)")
        for dependency in legacy.unfinishedDependencies {
            try? readiness.addDependency(dependency.counterpart)
        }
        let replaced = apply { state in
            defer { state.readiness = readiness }
            return state.readiness
        }
        replaced?.endFromOutside()
        observe(byBody: true)
        look()
        do {
            try await readiness.waitLendingPermit()
        } catch {
            guard apply({ $0.reportsCycles }) else { throw error }
            MisuseReport.report("\(error)")
            await withPermitLent {
                await outsideOfBody { () throws(TaskOperationError) in try await readiness.waitToTheEnd() }
            }
        }
    }

    private func start() async throws -> Bool {
        if !CooperativePool.isCurrent { return try startHere() }
        let result = await apply { $0.threads }.call { [self] in Result { try startHere() } }
        return try result.get()
    }

    /// Starts the operation on this thread. Returns false if it turns out not to be ready.
    ///
    /// Its observation starts it: it may get a dependency at any moment, and one that is started by hand must be ready.
    private func startHere() throws -> Bool {
        observe(byBody: apply { $0.life.phase == .begun })
        let (previous, observation) = apply { ($0.life.start(), $0.observation) }
        guard let previous else { return true }
        guard let observation else { throw BridgeError.inOperationQueue(operation: legacy.title) }
        if !observation.start() {
            apply { $0.life.undoStart(from: previous) }
            return false
        }
        legacy.tellFinish()
        look()
        return true
    }

    // MARK: Cancellation before the start

    /// Handles the end of the node's operation. If that never started the operation of Foundation, cancels the latter
    /// and starts it: only then does it finish, without running its `main()`.
    func operationEnded() {
        guard apply({ $0.life.isLeftUnstarted }) else { return }
        LegacyThreads.shared.run { [self] in
            // A start before the cancellation would run `main()`.
            cancelLegacy()
            guard apply({ $0.life.nodeEnded() }) else { return }
            if !legacy.isReadyNow { observe() }
            look()
        }
    }

    /// Starts a cancelled operation. Not on its queue's threads: these may all be blocked until it is finished.
    func startAbandoned() {
        // If an `OperationQueue` has it too, that one finishes it.
        LegacyThreads.shared.run { [self] in _ = try? startHere() }
    }

    /// Cancels the operation of Foundation, unless it is already: a subclass may count how often.
    private func cancelLegacy() {
        if !legacy.isCancelled { legacy.cancel() }
    }

    // MARK: Observation

    /// Called before a queue gets the operation. If the Foundation operation is not ready, the operation of the node
    /// waits until it is.
    func willBeSubmitted() {
        if legacy.isReadyNow { return }
        // Foundation would not tell of the end of the other dependencies.
        if legacy.countsRemovedDependencies { return }
        guard let operation = knownOperation else { return }
        let readiness = TaskOperation.standIn(name: "isReady of \(legacy.title)")
        apply { $0.readiness = readiness }
        try? operation.addDependency(readiness)
    }

    /// A queue has the operation. From now on it is seen when it is cancelled, or becomes ready later.
    func wasSubmitted() {
        observe()
        look()
    }

    private func observe(byBody: Bool = false) {
        guard apply({ $0.life.beginObservation(byBody: byBody) }) else { return }
        let observation =
            FoundationFields.isQueued(legacy) ? nil : LegacyObservation(of: legacy) { [self] in look() }
        let waiting = apply { state in
            state.life.observationBegan()
            state.observation = observation
            return state.waitsForObservation.take()
        }
        waiting?.resume()
    }
}
