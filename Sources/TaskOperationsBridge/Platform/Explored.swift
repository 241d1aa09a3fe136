// Replacements for types in a controlled build. Foundation sends notifications through Dispatch, whose threads are not
// controlled. In a controlled build, an operation sends notifications on the thread that changes it. See the article
// Exploration.
#if TASK_OPERATIONS_EXPLORED
    public import Foundation
    internal import Synchronization
    internal import TaskOperations

    let bridgeExecutor = globalConcurrentExecutor

    /// A Foundation operation that sends notifications of its changes in a controlled build.
    open class ControlledOperation: Foundation.Operation, @unchecked Sendable {  // `listeners` is a lock.
        private let listeners = Lock<[(owner: ObjectIdentifier, onChange: @Sendable () -> Void)]>([])

        /// Calls the listeners. A subclass must call this after it has changed a property.
        public func notify() {
            for listener in listeners.withLock({ $0 }) { listener.onChange() }
        }

        fileprivate func addListener(_ owner: AnyObject, onChange: @escaping @Sendable () -> Void) {
            let owner = ObjectIdentifier(owner)
            listeners.withLock { $0.append((owner, onChange)) }
        }

        fileprivate func removeListener(_ owner: AnyObject) {
            // Frees the closures after unlocking, because freeing a closure may call this object.
            _ = listeners.withLock { listeners in
                defer { listeners.removeAll { $0.owner == ObjectIdentifier(owner) } }
                return listeners
            }
        }

        override open func start() {
            super.start()
            notify()
        }

        override open func cancel() {
            super.cancel()
            notify()
        }

        override open func addDependency(_ operation: Foundation.Operation) {
            super.addDependency(operation)
            (operation as? ControlledOperation)?.addListener(self) { [weak self] in self?.notify() }
        }
    }

    final class LegacyObservation: Sendable {
        private let legacy: Foundation.Operation

        init(of legacy: Foundation.Operation, onChange: @escaping @Sendable () -> Void) {
            self.legacy = legacy
            (legacy as? ControlledOperation)?.addListener(self, onChange: onChange)
        }

        func start() -> Bool {
            guard legacy.isReady else { return false }
            legacy.start()
            return true
        }

        func end() { (legacy as? ControlledOperation)?.removeListener(self) }
    }

    final class FinishWatcher: Sendable {
        private let handler: @Sendable () -> Void

        init(onFinish handler: @escaping @Sendable () -> Void) {
            self.handler = handler
        }

        func watch(_ legacy: Foundation.Operation) {
            (legacy as? ControlledOperation)?.addListener(self) { [weak legacy, handler] in
                if legacy?.isFinished == true { handler() }
            }
            if legacy.isFinished { handler() }
        }

        func stop(watching legacy: Foundation.Operation) { (legacy as? ControlledOperation)?.removeListener(self) }
    }
#endif
