public import Foundation
internal import Synchronization
public import TaskOperations
internal import TaskOperationsExtras

extension AnyTaskOperation {
    /// A Foundation operation that represents this operation, called its proxy. Foundation operations can depend on the
    /// proxy, and you can add the proxy to an `OperationQueue`. While the proxy is retained, the property returns the
    /// same object. If this operation runs a Foundation operation, the property returns that operation instead.
    ///
    /// The proxy has the state of this operation. Cancelling one of the two cancels both.
    ///
    /// If you add the proxy to an `OperationQueue`, that queue starts this operation. If this operation is already on a
    /// queue of this library, that queue starts it instead. In both cases, the proxy occupies a place in the width of
    /// the `OperationQueue` until this operation has finished.
    ///
    /// As with any operation, the process stops if you add the proxy to an `OperationQueue` and it already executes or has
    /// finished. An operation of this library that is cancelled before its start has finished, unlike an operation of
    /// Foundation. If another thread may start or cancel this operation, call `addOperation(_:)` of the `OperationQueue`
    /// with this operation instead of its proxy.
    public var asOperation: Foundation.Operation {
        LegacyTable.node(of: self)?.legacy ?? proxy
    }

    /// The proxy of this operation.
    var proxy: OperationProxy {
        if let proxy = LegacyTable.proxy(of: self, orInsert: nil) { return proxy }
        let made = OperationProxy(for: self)
        let proxy = LegacyTable.proxy(of: self, orInsert: made)!
        if proxy === made { made.attach() }
        return proxy
    }
}

/// A Foundation operation that represents an operation of this library.
class OperationStandIn: Foundation.Operation, @unchecked Sendable {  // Its only property is constant.
    let operation: AnyTaskOperation

    init(for operation: AnyTaskOperation) {
        self.operation = operation
    }
}

/// The proxy of an operation of this library. It represents the operation in Foundation.
///
/// The proxy has the state of the operation, with one exception. In an `OperationQueue`, the proxy finishes only after
/// the queue has started it, even if the operation has ended. Foundation requires this.
final class OperationProxy: OperationStandIn, @unchecked Sendable {  // All mutable state is in `state`, a lock.
    private enum Phase: Comparable, Sendable {
        case waiting
        case executing
        case finished
    }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// Whether the proxy was started, by an `OperationQueue` or by hand.
        var isStarted = false
        /// Whether the change to executing has begun.
        var hasBegun = false
        /// Whether the change to finished has begun.
        var isEnding = false
        /// The dependency whose end the proxy will learn; nil if there is none.
        var watched: AnyTaskOperation?
        /// The executor that delays the operation until an `OperationQueue` starts the proxy.
        var slot: GatedExecutor?
        /// The dependencies that were added to the proxy, with their numbers in the order of addition.
        var dependencies: [ObjectIdentifier: (number: Int, operation: Foundation.Operation)] = [:]
        var dependencyCount = 0

        /// Whether the proxy is in an `OperationQueue` that has not started it. Before the start, the proxy must seem
        /// neither executing nor finished.
        func isHeldBack(isQueued: Bool) -> Bool { !isStarted && (slot != nil || isQueued) }
    }

    private let state = Lock(State())

    override init(for operation: AnyTaskOperation) {
        super.init(for: operation)
        name = operation.name
        super.queuePriority = Foundation.Operation.QueuePriority(operation.priority)
        qualityOfService = QualityOfService(operation.priority)
    }

    deinit { LegacyTable.removeProxy(self, of: ObjectIdentifier(operation)) }

    /// Makes the proxy follow the operation. The references are weak, so that the operation does not retain the proxy.
    func attach() {
        _ = operation.addStartHandler { [weak self] in self?.begin() }
        operation.addHandler(on: LegacyThreads.shared) { [weak self] _ in self?.end() }
    }

    // MARK: State

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.phase == .executing } }
    override var isFinished: Bool { state.withLock { $0.phase == .finished } }
    override var isCancelled: Bool { operation.isCancelled }

    override var isReady: Bool {
        // This also covers Foundation's barriers, on which the proxy depends without a call of `addDependency`.
        guard super.isReady else { return false }
        if operation.isFinished { return true }
        let (slot, watched) = state.withLock { ($0.slot, $0.watched) }
        if let slot { return slot.isWanted }
        // A search for each added dependency would take quadratic time.
        if let watched, !watched.isFinished, operation.hasDependency(watched) { return false }
        guard let dependency = operation.dependencies.first(where: { !$0.isFinished }) else { return true }
        tellReadiness(after: dependency)
        return false
    }

    override func cancel() {
        operation.cancel()
        super.cancel()
    }

    func tellReadiness() {
        willChangeValue(forKey: "isReady")
        didChangeValue(forKey: "isReady")
    }

    /// Makes Foundation read `isReady` again after a dependency has finished. Watches one dependency at a time.
    private func tellReadiness(after dependency: AnyTaskOperation) {
        // A dependency that was watched and then removed may never end.
        let former = state.withLock { state in
            defer { state.watched = dependency }
            return state.watched
        }
        if former === dependency { return }
        dependency.addHandler(on: LegacyThreads.shared) { [weak self, weak dependency] _ in
            let ended = self?.state.withLock { $0.watched === dependency ? $0.watched.take() : nil }
            extendLifetime(ended)
            self?.tellReadiness()
        }
    }

    override func start() { run() }

    // MARK: Dependencies and priority

    /// The dependencies of the operation, and the dependencies that were added to the proxy.
    override var dependencies: [Foundation.Operation] {
        let added = state.withLock { $0.dependencies }
        let others = operation.dependencies.map(\.asOperation).filter { added[ObjectIdentifier($0)] == nil }
        return added.values.sorted { $0.number < $1.number }.map(\.operation) + others
    }

    override func addDependency(_ dependency: Foundation.Operation) {
        do {
            try operation.addDependency(dependency)
            state.withLock { state in
                if state.dependencies[ObjectIdentifier(dependency)] != nil { return }
                state.dependencyCount += 1
                state.dependencies[ObjectIdentifier(dependency)] = (state.dependencyCount, dependency)
            }
        } catch TaskOperationError.alreadyStarted {
            // As in Foundation, a dependency that is added after the start has no effect.
        } catch {
            // Foundation's method cannot throw the error. No state has changed.
            MisuseReport.report("\(error)")
        }
        tellReadiness()
    }

    override func removeDependency(_ dependency: Foundation.Operation) {
        // The caller retains the removed operation.
        state.withLock { _ = $0.dependencies.removeValue(forKey: ObjectIdentifier(dependency)) }
        try? operation.removeDependency(dependency)
        tellReadiness()
    }

    override var queuePriority: Foundation.Operation.QueuePriority {
        get { Foundation.Operation.QueuePriority(operation.priority) }
        set {
            super.queuePriority = newValue
            operation.priority = TaskPriority(newValue)
        }
    }
}

// MARK: - Running

extension OperationProxy {
    /// Makes the operation wait until an `OperationQueue` starts the proxy. Returns false if the operation has already
    /// ended, so that no start is needed.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`.
    func reserve(for queue: OperationQueue) throws(TaskOperationError) -> Bool {
        let slot = GatedExecutor { [weak self] in self?.tellReadiness() }
        let (isTaken, hasEnded) = state.withLock { state in
            defer { if state.slot == nil { state.slot = slot } }
            return (state.slot != nil, state.isEnding)
        }
        if isTaken { throw .alreadyAdded(OperationLabel(operation)) }
        do {
            try TaskOperationQueue(.init(name: queue.name, maxConcurrentOperationCount: 1, executor: slot))
                .addOperation(operation)
        } catch {
            state.withLock { $0.slot = nil }
            throw error
        }
        return !hasEnded
    }

    /// Starts the operation. Called when the proxy is started.
    fileprivate func run() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return }
        if operation.isFinished { return end() }
        begin()
        if let slot = state.withLock({ $0.slot }) {
            slot.open()
        } else {
            // If the operation is on a queue of this library, the call throws. That queue runs the operation, and the
            // proxy only waits.
            try? TaskOperationQueue(name: name, maxConcurrentOperationCount: 1).addOperation(operation)
        }
    }

    /// Makes the proxy executing. Called when the body begins or the proxy is started.
    fileprivate func begin() {
        let isQueued = FoundationFields.isQueued(self)
        let isFirst = state.withLock { state in
            if state.isHeldBack(isQueued: isQueued) || state.hasBegun || state.isEnding { return false }
            state.hasBegun = true
            return true
        }
        guard isFirst else { return }
        willChangeValue(forKey: "isExecuting")
        state.withLock { $0.phase = max($0.phase, .executing) }
        didChangeValue(forKey: "isExecuting")
    }

    /// Makes the proxy finished. Called after the operation has ended.
    fileprivate func end() {
        let isQueued = FoundationFields.isQueued(self)
        let (isHeldBack, isFirst) = state.withLock { state in
            if state.isHeldBack(isQueued: isQueued) { return (true, false) }
            defer { state.isEnding = true }
            return (false, !state.isEnding)
        }
        if isHeldBack { tellReadiness() }
        guard isFirst else { return }
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        let slot = state.withLock { state in
            state.phase = .finished
            return state.slot
        }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
        slot?.open()
    }
}
