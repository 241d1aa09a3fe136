internal import Foundation
@_spi(Lock) internal import TaskOperations

/// Calls a handler once when an operation has finished.
///
/// It is an operation that depends on the watched one, in its own `OperationQueue`. On every platform, Foundation
/// starts a dependent operation after its dependencies. Key-value observation is no substitute on Apple platforms: an
/// observer that is registered while another thread changes the value is not notified of that change
/// (swiftlang/swift#59363).
///
/// One queue for all watchers would take time linear in its length for each operation that finishes.
final class FinishWatcher: Foundation.Operation, @unchecked Sendable {  // `handler` is a lock.
    private let handler: Lock<(@Sendable () -> Void)?>

    /// - Parameter handler: Called on `bridgeQueue`, or by `watch` if the operation is finished.
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

    /// A queue starts a cancelled operation at once, and so releases this one.
    func stop(watching operation: Foundation.Operation) {
        _ = handler.withLock { $0.take() }
        cancel()
        // Foundation without the Objective-C runtime does not retain dependents.
        removeDependency(operation)
    }

    override func main() { fire() }

    private func fire() {
        handler.withLock { $0.take() }?()
    }
}
