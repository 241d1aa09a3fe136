internal import Foundation
internal import Synchronization
internal import TaskOperations

/// Calls a handler once when an operation has finished.
///
/// The watcher is an operation in its own `OperationQueue`. It depends on the watched operation. On every platform,
/// Foundation starts an operation after its dependencies have finished.
///
/// Key-value observation would miss changes on Apple platforms. An observer that is registered while another thread
/// changes the value is not notified of that change (swiftlang/swift#59363).
///
/// All watchers in one queue would be slow. Each finished operation would take linear time in the number of watchers.
final class FinishWatcher: Foundation.Operation, @unchecked Sendable {  // `handler` is a lock.
    private let handler: Lock<(@Sendable () -> Void)?>

    /// - Parameter handler: Called on `bridgeQueue`. If the operation is already finished, `watch` may call it.
    init(onFinish handler: @escaping @Sendable () -> Void) {
        self.handler = Lock(handler)
    }

    func watch(_ operation: Foundation.Operation) {
        addDependency(operation)
        let queue = OperationQueue()
        queue.underlyingQueue = bridgeQueue
        queue.addOperation(self)
        // A subclass may have changed `isFinished` without a notification.
        if operation.isFinished { fire() }
    }

    /// Ends the observation. The queue starts the cancelled watcher at once, and then releases it.
    func stop(watching operation: Foundation.Operation) {
        _ = handler.withLock { $0.take() }
        cancel()
        // Foundation without the Objective-C runtime does not retain dependents, and would access a freed watcher.
        removeDependency(operation)
    }

    override func main() { fire() }

    private func fire() {
        handler.withLock { $0.take() }?()
    }
}
