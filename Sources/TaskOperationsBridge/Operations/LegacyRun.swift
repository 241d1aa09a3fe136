internal import Foundation
internal import Synchronization
internal import TaskOperations

/// Runs an operation of Foundation as the body of one of ours.
final class LegacyRun: Sendable {
    let legacy: Foundation.Operation
    private let hasBegun = Atomic(false)

    init(_ legacy: Foundation.Operation) {
        self.legacy = legacy
    }

    /// The body. It is done when the operation is finished, however long after its start that is.
    ///
    /// - Parameter isolation: Where bodies of the queue run.
    /// - Throws: `CancellationError` where the operation was cancelled, and `BridgeError.inOperationQueue` where an
    ///   `OperationQueue` has it too.
    func perform(isolation: isolated (any Actor)? = #isolation) async throws {
        hasBegun.store(true, ordering: .relaxed)
        if LegacyState.isQueued(legacy) {
            LegacyTable.removeRunner(of: legacy)
            throw BridgeError.inOperationQueue(operation: legacy.title)
        }
        await withTaskCancellationHandler {
            _ = isolation  // A closure that does not use it would leave the actor.
            await start()
            if !legacy.isFinished { await legacy.end.waitUntilFinishedKeepingPermit() }
        } onCancel: {
            legacy.cancel()
        }
        legacy.forgetDependencies()
        LegacyTable.removeRunner(of: legacy)
        if legacy.isCancelled { throw CancellationError() }
    }

    private func start() async {
        if legacy.isFinished { return }
        if !legacy.isReady { return await ReadinessRelay(legacy).run() }
        if !CooperativePool.isCurrent { return legacy.startAndTell() }
        await LegacyThreads.shared.call { [legacy] in legacy.startAndTell() }
    }

    /// The operation of ours has ended. Where it never began, that of Foundation is cancelled, and then started: only
    /// so does it finish, without running its `main()`.
    func hasEnded() {
        if hasBegun.load(ordering: .relaxed) { return }
        legacy.cancel()
        LegacyThreads.shared.run { [legacy] in
            if !legacy.isFinished, !LegacyState.isQueued(legacy) {
                if legacy.isReady {
                    legacy.startAndTell()
                } else {
                    OperationQueue().addOperation(legacy)
                }
            }
            LegacyTable.removeRunner(of: legacy)
            Task.detached(executorPreference: bridgeExecutor) {
                await legacy.finished()
                legacy.forgetDependencies()
            }
        }
    }
}

extension Foundation.Operation {
    /// Starts the operation as a queue does.
    fileprivate func startAndTell() {
        start()
        #if !canImport(ObjectiveC)
            // A subclass that is finished on its return from `start()` may not have told anybody. Telling twice does no
            // harm.
            if isFinished { didChangeValue(forKey: "isFinished") }
        #endif
    }

    /// Cuts a finished operation off from what it depended on, as a queue does.
    ///
    /// Foundation without the Objective-C runtime keeps dependents unretained: where a dependency finishes only now, it
    /// would look for one that may be gone.
    fileprivate func forgetDependencies() {
        #if !canImport(ObjectiveC)
            for dependency in dependencies { removeDependency(dependency) }
        #endif
    }
}
