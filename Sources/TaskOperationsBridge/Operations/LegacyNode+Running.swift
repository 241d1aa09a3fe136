internal import Foundation
internal import TaskOperations
internal import TaskOperationsExtras

// Nodes whose operation of Foundation was added to a queue of this library.

extension LegacyNode {
    /// The body of the node's operation. It ends when the operation of Foundation has finished, which may be long after
    /// its start.
    ///
    /// - Parameter isolation: The actor on which bodies of the queue run.
    /// - Throws: `CancellationError` if the operation was cancelled, `BridgeError.inOperationQueue` if it is also in an
    ///   `OperationQueue`, and `TaskOperationError.waitCycle` if it waits for an operation that waits for it, unless
    ///   cycles are reported.
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

    /// Waits for an operation that is not ready although the queue has started it: its class overrides `isReady`, or it
    /// got a dependency late. The body lends its permit during the wait.
    private func waitUntilReady() async throws {
        let readiness = TaskOperation.placeholder(name: "isReady of \(legacy.title)")
        for dependency in legacy.unfinishedDependencies {
            try? readiness.addDependency(dependency.counterpart)
        }
        let replaced = apply { state in
            defer { state.readiness = readiness }
            return state.readiness
        }
        replaced?.finishExternally()
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
    /// The observation starts it, because it may get a dependency at any moment, and an operation must be ready when
    /// `start()` is called.
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

    /// Starts a cancelled operation. This does not use its queue's threads, because all of them may be blocked until
    /// the operation has finished.
    func startAbandoned() {
        // If the operation is also in an `OperationQueue`, that queue finishes it.
        LegacyThreads.shared.run { [self] in _ = try? startHere() }
    }

    /// Cancels the operation of Foundation, unless it is already cancelled: a subclass may count the calls.
    private func cancelLegacy() {
        if !legacy.isCancelled { legacy.cancel() }
    }

    // MARK: Observation

    /// Called before a queue gets the operation. If the Foundation operation is not ready, the operation of the node
    /// waits until it is.
    func willBeSubmitted() {
        if legacy.isReadyNow { return }
        // Foundation would not report the ends of the other dependencies.
        if legacy.countsRemovedDependencies { return }
        guard let operation = knownOperation else { return }
        let readiness = TaskOperation.placeholder(name: "isReady of \(legacy.title)")
        apply { $0.readiness = readiness }
        try? operation.addDependency(readiness)
    }

    /// A queue has accepted the operation. From now on, cancellation and readiness are observed.
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
