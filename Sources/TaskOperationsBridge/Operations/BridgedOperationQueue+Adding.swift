internal import Foundation
internal import TaskOperations

extension BridgedOperationQueue {
    /// Adds an operation of ours that nobody else has.
    func add(_ operation: TaskOperation<Void>) {
        list(operation)
        taskQueue.addNew(operation)
    }

    /// Adds an operation of ours.
    ///
    /// - Throws: As `TaskOperationQueue.addOperation`.
    func add(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try taskQueue.addOperation(operation)
        list(operation)
    }

    /// Adds operations of Foundation in one step.
    ///
    /// - Throws: As `TaskOperationQueue.addOperations`.
    func add(_ legacies: [Foundation.Operation]) throws {
        // One by itself need not take the queue's lock.
        let operations =
            legacies.count == 1 ? [try taskQueue.addOperation(legacies[0])] : try taskQueue.addOperations(legacies)
        for (legacy, operation) in zip(legacies, operations) {
            list(operation, original: legacy is OperationStandIn ? nil : legacy)
        }
    }

    /// Has the base class list an operation, where that does not ask `taskQueue`.
    private func list(_ operation: AnyTaskOperation, original: Foundation.Operation? = nil) {
        #if !canImport(ObjectiveC)
            let member = QueueMember(for: operation, original: original, in: members)
            super.addOperation(member)
            member.wasListed()
        #endif
    }
}
