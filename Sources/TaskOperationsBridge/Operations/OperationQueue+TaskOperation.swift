public import Foundation
public import TaskOperations

extension OperationQueue {
    /// Runs an operation of ours: the queue starts it in its turn, once its dependencies are finished, and counts it in
    /// its width until it is finished. The body runs on the cooperative pool.
    ///
    /// Other than a `TaskOperationQueue`, this one cannot lend the place of an operation out while its body awaits
    /// another one.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if it was added to a queue before or started by hand.
    public func addOperation(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        if let bridged = self as? BridgedOperationQueue { return try bridged.add(operation) }
        let face = operation.face
        if try face.reserve(for: self) { addOperation(face) }
    }
}
