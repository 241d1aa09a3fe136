#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    internal import Synchronization
    internal import TaskOperations

    /// Observes when an operation may have become ready or cancelled, and starts the operation.
    ///
    /// Foundation without the Objective-C runtime has no key-value observation. It reports a change only to the
    /// `OperationQueue` of the operation. That queue then reads `isReady` of its other operations. So this class adds
    /// the operation and a listener to a new `OperationQueue`.
    ///
    /// The new queue submits ready operations to the Dispatch queue `gate`, which is inactive. To start the operation,
    /// this class performs the submitted work item.
    final class LegacyObservation: @unchecked Sendable {
        // All properties are constant. Any thread may call the functions of a `DispatchWorkItem`.

        private let legacy: Foundation.Operation
        private let queue = OperationQueue()
        private let gate: DispatchQueue
        private let listener: Listener
        private let workItem: DispatchWorkItem?

        /// Runs the remaining work items of the gates.
        private static let drain = DispatchQueue(label: "TaskOperationsBridge observations")

        /// Begins to observe the operation. The operation stays in the new `OperationQueue` until it has finished.
        init(of legacy: Foundation.Operation, onChange: @escaping @Sendable () -> Void) {
            self.legacy = legacy
            gate = DispatchQueue(
                label: "LegacyObservation", attributes: .initiallyInactive,
                target: FoundationFields.knowsWorkItems ? Self.drain : nil)
            listener = Listener(onChange: onChange)
            queue.underlyingQueue = gate
            queue.addOperation(listener)
            queue.addOperation(legacy)
            workItem = FoundationFields.workItem(of: legacy)
            listener.setPhase(.listening)
        }

        /// Starts the operation on this thread. Returns false if it is not ready.
        func start() -> Bool {
            // The queue may have outdated information about the readiness. This notification makes the queue check it.
            if FoundationFields.isHeldBack(legacy) { legacy.didChangeValue(forKey: "isReady") }
            if FoundationFields.isHeldBack(legacy) { return false }
            if let workItem { workItem.perform() } else { gate.activate() }
            return true
        }

        /// Ends the observation. Called after the operation has finished.
        func end() {
            // The gate still contains the work item, and must not perform it again.
            workItem?.cancel()
            listener.setPhase(.ended)
            listener.didChangeValue(forKey: "isReady")
            gate.activate()
        }
    }

    /// An operation that reports changes of other operations. The queue reads its `isReady` after each change.
    private final class Listener: Foundation.Operation, @unchecked Sendable {  // `phase` is a lock.
        enum Phase: Sendable { case silent, listening, ended, finished }

        private let phase = Lock(Phase.silent)
        /// Called after each change. It also retains the observed operation, because the queue may have an unretained
        /// reference to the finished operation.
        private let onChange: @Sendable () -> Void

        init(onChange: @escaping @Sendable () -> Void) {
            self.onChange = onChange
        }

        func setPhase(_ new: Phase) { phase.withLock { $0 = new } }

        override var isReady: Bool {
            let phase = phase.withLock { $0 }
            if phase == .listening { onChange() }
            return phase == .ended
        }

        override var isFinished: Bool { phase.withLock { $0 == .finished } }

        override func start() {
            setPhase(.finished)
            didChangeValue(forKey: "isFinished")
        }
    }
#endif
