public import Foundation
public import TaskOperations

extension OperationQueue {
    /// Adds an operation of this library. The queue starts it in its order, after its dependencies, and counts it in
    /// its width until it has finished. The body runs on the cooperative pool.
    ///
    /// Unlike a `TaskOperationQueue`, this queue cannot lend the permit of an operation while its body awaits another
    /// operation.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if it was added to a queue before or started by hand.
    public func addOperation(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        if let bridged = self as? BridgedOperationQueue { return try bridged.add(operation) }
        let face = operation.face
        if try face.reserve(for: self) { addOperation(face) }
    }
}
