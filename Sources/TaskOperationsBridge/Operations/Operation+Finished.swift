public import Foundation
public import TaskOperations

extension Foundation.Operation {
    /// Waits until the operation is finished. Blocks no thread, and does not use `completionBlock`.
    ///
    /// A body that waits lends its permit if this operation needs the permit. Cancelling the task does not end the
    /// wait. If a body waits for an operation that cannot end before the body, the cycle is reported to `MisuseReport`.
    /// The report names the operations. The wait then lasts until one of the operations is cancelled.
    public func finished() async {
        if isFinished { return }
        await reportingCycles { () throws(TaskOperationError) in try await self.asTaskOperation.waitToTheEnd() }
        // A proxy finishes slightly later than its counterpart. So does an operation that is cancelled before its
        // start.
        if !isFinished { await LegacyNode.node(of: self).waitUntilFinished() }
    }

    /// Makes this operation start only after an operation of this library is finished, with any outcome.
    ///
    /// The search for cycles follows a Foundation operation only if an operation of this library depends on it.
    ///
    /// - Parameter operation: The operation that must finish first.
    /// - Throws: `TaskOperationError.dependencyCycle` if the other operation waits for this operation.
    public func addDependency(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        if let counterpart = knownCounterpart {
            do {
                try counterpart.addDependency(operation)
            } catch TaskOperationError.alreadyStarted {
                // As in Foundation, the dependency is too late. It has an effect only if the operation still waits
                // until it is ready.
                try LegacyTable.knownNode(of: self)?.readiness?.addDependency(operation)
            }
        }
        addDependency(operation.asOperation)
    }

    /// Removes a dependency on an operation of this library.
    ///
    /// If this operation is in an `OperationQueue`, Foundation without the Objective-C runtime still counts an unfinished
    /// dependency that was removed, of any kind, and never starts the operation.
    ///
    /// - Parameter operation: The operation that need not finish first any more.
    public func removeDependency(_ operation: AnyTaskOperation) {
        try? knownCounterpart?.removeDependency(operation)
        removeDependency(operation.asOperation)
        if !FoundationFields.isQueued(self) { _ = isReadyNow }
        guard let node = LegacyTable.knownNode(of: self) else { return }
        // Foundation may no longer report the ends of the other dependencies. The body then checks the readiness.
        if countsRemovedDependencies { node.readiness?.finishExternally() } else { node.look() }
    }
}

extension AnyTaskOperation {
    /// Makes this operation start only after a Foundation operation is finished, with any outcome. The Foundation
    /// operation may be in any state and on any queue. It may also be added to a queue later.
    ///
    /// - Parameter legacy: The Foundation operation that must finish first.
    /// - Throws: `TaskOperationError.dependencyCycle` if the Foundation operation waits for this operation, or
    ///   `TaskOperationError.alreadyStarted` if this operation has started or finished. If the call throws, no
    ///   dependency is added.
    public func addDependency(_ legacy: Foundation.Operation) throws(TaskOperationError) {
        try addDependency(legacy.asTaskOperation)
    }

    /// Removes a dependency on a Foundation operation.
    ///
    /// - Parameter legacy: The Foundation operation that need not finish first any more.
    /// - Throws: `TaskOperationError.alreadyStarted` if this operation has started or finished.
    public func removeDependency(_ legacy: Foundation.Operation) throws(TaskOperationError) {
        if let counterpart = legacy.knownCounterpart { try removeDependency(counterpart) }
    }
}
