internal import Foundation
@_spi(Lock) internal import TaskOperations

#if canImport(ObjectiveC)
    /// Tells once that an operation is finished.
    final class FinishWatcher: Sendable {
        private let handler: Lock<(@Sendable () -> Void)?>
        private let observation = Lock<KeyValueObservation?>(nil)

        init(onFinish handler: @escaping @Sendable () -> Void) {
            self.handler = Lock(handler)
        }

        func watch(_ operation: Foundation.Operation) {
            let made = KeyValueObservation(of: \.isFinished, in: operation, options: .initial) {
                [weak self] operation in
                if operation.isFinished { self?.fire() }
            }
            observation.withLock { $0 = made }
        }

        func stop(watching operation: Foundation.Operation) {
            handler.withLock { _ = $0.take() }
            observation.withLock { $0.take() }?.end()
        }

        private func fire() {
            handler.withLock { $0.take() }?()
        }
    }
#else
    /// Tells once that an operation is finished.
    ///
    /// Foundation without the Objective-C runtime has no key-value observation. But when an operation finishes, it
    /// asks those that depend on it whether they are ready now, wherever they are; so this one depends on the
    /// operation, is never queued, and listens. Foundation keeps dependents unretained: whoever owns this calls
    /// `stop` before letting go of it.
    final class FinishWatcher: Foundation.Operation, @unchecked Sendable {  // `handler` is a lock.
        private let handler: Lock<(@Sendable () -> Void)?>

        init(onFinish handler: @escaping @Sendable () -> Void) {
            self.handler = Lock(handler)
        }

        func watch(_ operation: Foundation.Operation) {
            addDependency(operation)
            // A subclass may have set `isFinished` without telling.
            if operation.isFinished { fire() }
        }

        func stop(watching operation: Foundation.Operation) {
            handler.withLock { _ = $0.take() }
            removeDependency(operation)
        }

        override var isReady: Bool {
            let isReady = super.isReady
            if isReady { fire() }
            return isReady
        }

        private func fire() {
            handler.withLock { $0.take() }?()
        }
    }
#endif
