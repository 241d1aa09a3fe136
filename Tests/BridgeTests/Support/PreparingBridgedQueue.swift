import Foundation
import TaskOperationsBridge

/// `PreparingOperationQueue` with the bridged queue in the place of its base class.
final class PreparingBridgedQueue: BridgedOperationQueue, @unchecked Sendable {  // It has nothing of its own.
    override func addOperation(_ operation: Foundation.Operation) {
        (operation as? ConditionedOperation)?.willEnqueue()
        super.addOperation(operation)
    }

    override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        for operation in operations { addOperation(operation) }
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }
}
