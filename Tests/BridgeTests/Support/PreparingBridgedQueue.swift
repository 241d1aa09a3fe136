import Foundation
import TaskOperationsBridge

/// `PreparingOperationQueue` with `BridgedOperationQueue` as its base class.
final class PreparingBridgedQueue: BridgedOperationQueue, @unchecked Sendable {  // It adds no stored properties.
    override func addOperation(_ operation: Foundation.Operation) {
        (operation as? ConditionedOperation)?.willEnqueue()
        super.addOperation(operation)
    }

    override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
        for operation in operations { addOperation(operation) }
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }
}
