#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    @_spi(Lock) internal import TaskOperations

    /// Observes when an operation may have become ready or cancelled, and starts it.
    ///
    /// Foundation without the Objective-C runtime has no key-value observation. It reports a change only to the
    /// `OperationQueue` of the operation. That queue then reads `isReady` of its other operations. So the operation
    /// gets its own queue, which also contains a listener. That queue submits ready operations to a Dispatch queue that
    /// does not run yet. To start the operation, this class performs the submitted work item.
    final class LegacyObservation: @unchecked Sendable {
        // `workItem` is set before anything else can reach this, and its functions can be called from any thread.

        private let legacy: Foundation.Operation
        private let queue = OperationQueue()
        private let gate: DispatchQueue
        private let listener: Listener
        private let workItem: DispatchWorkItem?

        /// Runs the work items that are left in the gates.
        private static let drain = DispatchQueue(label: "TaskOperationsBridge observations")

        /// Adds the operation to an `OperationQueue`. It is never removed.
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
            // The queue may still consider the operation not ready. This notification makes the queue check.
            if FoundationFields.isHeldBack(legacy) { legacy.didChangeValue(forKey: "isReady") }
            if FoundationFields.isHeldBack(legacy) { return false }
            if let workItem { workItem.perform() } else { gate.activate() }
            return true
        }

        /// The operation is finished, so no more notifications are needed.
        func end() {
            // The work item is also in the gate, and must not be performed again.
            workItem?.cancel()
            listener.setPhase(.ended)
            listener.didChangeValue(forKey: "isReady")
            gate.activate()
        }
    }

    /// Its queue reads `isReady` when another operation in the queue may have changed.
    private final class Listener: Foundation.Operation, @unchecked Sendable {  // `phase` is a lock.
        enum Phase: Sendable { case silent, listening, ended, finished }

        private let phase = Lock(Phase.silent)
        /// Retains the operation, too: its queue may still have an unretained reference to it when it has finished.
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
