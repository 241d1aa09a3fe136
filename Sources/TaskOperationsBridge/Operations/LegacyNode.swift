internal import Foundation
internal import Synchronization
internal import TaskOperations

/// Links a Foundation operation to an operation of this library. The latter is called the node's operation.
///
/// A Foundation operation has one node while code of this library waits for it or runs it. The node's operation ends
/// when the Foundation operation finishes, regardless of the queue that runs it. If the Foundation operation is added
/// to a queue of this library, the body of the node's operation runs it. So dependencies, cycles, priorities and
/// cancellation are handled in one place.
final class LegacyNode: Sendable {
    let legacy: Foundation.Operation
    private let state = Lock(State())

    struct State: Sendable {
        var life = LegacyState()
        /// The node's operation. Its dependents and waiters retain it.
        var operation: WeakReference<AnyTaskOperation>?
        /// A strong reference to the node's operation. It is set when the operation is claimed for a queue.
        var kept: AnyTaskOperation?
        var watcher: FinishWatcher?
        var observation: LegacyObservation?
        /// An operation that ends when the Foundation operation is ready; nil if no operation waits for the readiness.
        var readiness: AnyTaskOperation?
        var waitsForObservation: CheckedContinuation<Void, Never>?
        var waitsForFinish: [CheckedContinuation<Void, Never>] = []
        /// The counterparts of Foundation dependencies that were added to the node's operation. They are not retained,
        /// because a chain of nodes would be freed recursively.
        var mirrored: Set<ObjectIdentifier> = []
        /// The dependencies whose ends the node watches itself, with their watchers.
        var watched: [ObjectIdentifier: (dependency: Foundation.Operation, watcher: FinishWatcher)] = [:]
        var hasHandler = false
        /// The threads on which the Foundation operation may block.
        var threads = LegacyThreads.shared
        /// Whether a cycle is reported instead of thrown. True if a function of Foundation, which cannot throw, added
        /// the operation.
        var reportsCycles = false
    }

    init(of legacy: Foundation.Operation) {
        self.legacy = legacy
    }

    deinit {
        let (operation, watcher) = state.withLock { ($0.operation?.identity, $0.watcher) }
        LegacyTable.remove(self, for: operation)
        watcher?.stop(watching: legacy)
    }

    func apply<Result: Sendable>(_ event: (inout State) -> Result) -> Result { state.withLock { event(&$0) } }

    /// Returns the node's operation, and whether this call has created it. A new operation has no dependencies yet.
    func operation() -> (AnyTaskOperation, isNew: Bool) {
        if let operation = knownOperation { return (operation, false) }
        let made = TaskOperation<Void>(name: legacy.name, priority: TaskPriority(legacy)) { try await self.run() }
        made.refusesAddition = true
        let (operation, isFinished) = apply { state -> (AnyTaskOperation, Bool) in
            if let operation = state.operation?.object { return (operation, false) }
            state.operation = WeakReference(made)
            state.mirrored = []
            state.hasHandler = false
            return (made, state.life.phase == .finished)
        }
        if operation === made { LegacyTable.insert(self, for: made) }
        if isFinished { made.finishExternally() }
        return (operation, operation === made)
    }

    var knownOperation: AnyTaskOperation? { apply { $0.operation?.object } }

    /// Whether the Foundation operation is on no queue of this library.
    var isForeign: Bool { apply { $0.life.phase == .foreign } }

    var readiness: AnyTaskOperation? { apply { $0.readiness } }
}

// MARK: - The end

extension LegacyNode {
    /// Watches the end of the Foundation operation, which may be on any queue.
    func watch() {
        let watcher = FinishWatcher { [weak self] in self?.look() }
        let isNew = apply { state in
            if state.watcher != nil || state.life.phase == .finished { return false }
            state.watcher = watcher
            return true
        }
        if isNew { watcher.watch(legacy) }
    }

    /// Waits until the Foundation operation is finished. It may finish after the node's operation.
    func waitUntilFinished() async {
        if apply({ $0.life.phase == .finished }) { return }
        watch()
        await withCheckedContinuation { continuation in
            let isFinished = apply { state in
                if state.life.phase == .finished { return true }
                state.waitsForFinish.append(continuation)
                return false
            }
            if isFinished { continuation.resume() } else { look() }
        }
    }

    /// Examines the Foundation operation after a possible change, and performs the resulting commands. If another
    /// thread is already examining the operation, makes that thread examine it again.
    func look() {
        guard apply({ $0.life.look() }) else { return }
        while apply({ $0.life.beginLook() }) {
            // `isReady` has side effects in some subclasses, so it is read only when it is needed.
            let isWanted = apply { $0.life.phase.isReadinessWanted }
            let isReady = isWanted && legacy.isReadyNow
            if isWanted, !isReady, legacy.countsRemovedDependencies { watchDependencies() }
            let sight = LegacyState.Sight(
                isReady: isReady, isCancelled: legacy.isCancelled, isFinished: legacy.isFinished)
            for command in apply({ $0.life.saw(sight) }) { perform(command) }
        }
    }

    private func perform(_ command: LegacyState.Command) {
        switch command {
        case .cancelNode: knownOperation?.cancel()
        case .endReadiness: apply { $0.readiness.take() }?.finishExternally()
        case .startAbandoned: startAbandoned()
        case .finish(let wasOurs): finish(wasOurs: wasOurs)
        }
    }

    private func finish(wasOurs: Bool) {
        // Foundation must tell the dependents first. A waiter may release them, and Foundation does not retain them.
        legacy.tellFinish()
        if wasOurs { legacy.forgetDependencies() }
        let (operation, observation, waiting, watched) = apply { state in
            defer {
                state.waitsForFinish = []
                state.observation = nil
                state.watched = [:]
            }
            return (state.operation?.object, state.observation, state.waitsForFinish, state.watched)
        }
        for (dependency, watcher) in watched.values { watcher.stop(watching: dependency) }
        observation?.end()
        if wasOurs, legacy.isCancelled { operation?.cancel() } else { operation?.finishExternally() }
        for continuation in waiting { continuation.resume() }
    }
}
