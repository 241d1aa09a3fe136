internal import Foundation
internal import TaskOperations
internal import TaskOperationsExtras

// Running Foundation operations that were added to a queue of this library.

extension LegacyNode {
    /// The body of the node's operation. Starts the Foundation operation, and waits until it has finished.
    ///
    /// - Parameter isolation: The actor on which bodies of the queue run.
    /// - Throws: `CancellationError` if the Foundation operation was cancelled.
    ///   - `BridgeError.inOperationQueue` if the Foundation operation is also in an `OperationQueue`.
    ///   - `TaskOperationError.waitCycle` if the operation waits in a cycle and `reportsCycles` is false.
    func run(isolation: isolated (any Actor)? = #isolation) async throws {
        await begin()
        try await withTaskCancellationHandler {
            _ = isolation  // A closure that does not use `isolation` would leave the actor.
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

    /// Waits until the Foundation operation is ready. The body lends its permit during the wait.
    ///
    /// The operation can be unready in its body for two reasons. Its class may override `isReady`, or a dependency may
    /// have been added late.
    private func waitUntilReady() async throws {
        let readiness = TaskOperation.placeholder(name: "isReady of \(legacy.title)")
        for dependency in legacy.unfinishedDependencies {
            try? readiness.addDependency(dependency.asTaskOperation)
        }
        let replaced = apply { state in
            defer { state.readiness = readiness }
            return state.readiness
        }
        replaced?.finishExternally()
        observe(byBody: true)
        look()
        do {
            try await readiness.waitToTheEnd(lendsPermit: true)
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

    /// Starts the Foundation operation on this thread. Returns false if it is not ready.
    ///
    /// The operation must be ready when `start()` is called, but other threads may add dependencies at any time. So the
    /// observation checks the readiness and calls `start()`.
    private func startHere() throws -> Bool {
        observe(byBody: apply { $0.life.phase == .begun })
        let (previous, observation) = apply { ($0.life.start(), $0.observation) }
        guard let previous else { return true }
        guard let observation else { throw BridgeError.inOperationQueue(operation: legacy.title) }
        if legacy.isCancelled { legacy.forgetDependenciesInTurn() }
        if !observation.start() {
            apply { $0.life.undoStart(from: previous) }
            return false
        }
        look()
        return true
    }

    // MARK: Cancellation before the start

    /// Handles the end of the node's operation.
    ///
    /// If the Foundation operation was never started, it must still finish. So this method cancels it, and then starts
    /// it. A cancelled operation finishes at its start without running `main()`.
    func operationEnded() {
        guard apply({ $0.life.isLeftUnstarted }) else { return }
        LegacyThreads.shared.run { [self] in
            // Cancelled before the start, because otherwise the start would run `main()`.
            cancelLegacy()
            guard apply({ $0.life.nodeEnded() }) else { return }
            if !legacy.isReadyNow { observe() }
            look()
        }
    }

    /// Starts a cancelled operation. Uses the shared threads, because all threads of the operation's queue may be
    /// blocked until the operation has finished.
    func startAbandoned() {
        LegacyThreads.shared.run { [self] in
            // If the operation is also in an `OperationQueue`, the call throws, and that queue finishes the operation.
            let isStarted = (try? startHere()) ?? true
            // Another thread may have removed a dependency during the call, which makes the operation unready for a moment.
            if !isStarted { look() }
        }
    }

    /// Cancels the Foundation operation, unless it is already cancelled. A subclass may count the calls of `cancel()`.
    private func cancelLegacy() {
        if !legacy.isCancelled { legacy.cancel() }
    }

    // MARK: Observation

    /// Prepares the node's operation before it is added to a queue. If the Foundation operation is not ready, makes the
    /// node's operation wait until it is ready.
    func willBeSubmitted() {
        if legacy.isReadyNow { return }
        // In this case, Foundation would not report the ends of the other dependencies. The body checks the readiness.
        if legacy.countsRemovedDependencies { return }
        guard let operation = knownOperation else { return }
        let readiness = TaskOperation.placeholder(name: "isReady of \(legacy.title)")
        apply { $0.readiness = readiness }
        try? operation.addDependency(readiness)
    }

    /// Begins to observe cancellation and readiness. Called after a queue has accepted the operation.
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
