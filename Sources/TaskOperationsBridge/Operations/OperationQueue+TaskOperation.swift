public import Foundation
public import TaskOperations

extension OperationQueue {
    /// Adds an operation of this library. The queue starts the operation in the queue's order, after its dependencies.
    /// The operation occupies a place in the queue's width until it has finished. The body runs on the cooperative
    /// pool.
    ///
    /// Unlike on a `TaskOperationQueue`, the operation keeps its place while its body awaits another operation.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was added to a queue before or was started by hand.
    public func addOperation(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        if let bridged = self as? BridgedOperationQueue { return try bridged.add(operation) }
        let proxy = operation.proxy
        if try proxy.reserve(for: self) { addOperation(proxy) }
    }
}
