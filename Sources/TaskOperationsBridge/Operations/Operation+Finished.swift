public import Foundation
public import TaskOperations

extension Foundation.Operation {
    /// Waits, without blocking a thread and without touching `completionBlock`, until the operation is finished.
    ///
    /// A body that waits lends its permit if this operation needs it. Cancelling the task does not end the wait. If a
    /// body waits for an operation that cannot end before the body does, the cycle is reported to `MisuseReport` with
    /// the names of its operations, and the wait lasts until one of them is cancelled.
    public func finished() async {
        if isFinished { return }
        await reportingCycles { () throws(TaskOperationError) in try await self.counterpart.waitToTheEnd() }
        // An operation that represents an operation of this library, or that was cancelled before its start, finishes
        // slightly later than its counterpart.
        if !isFinished { await LegacyNode.node(of: self).waitUntilFinished() }
    }

    /// Makes this operation start only after an operation of this library is finished, with any outcome.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` if the other operation waits for this one. The search follows
    ///   operations of Foundation only if an operation of this library depends on them.
    public func addDependency(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        if let counterpart = knownCounterpart {
            do {
                try counterpart.addDependency(operation)
            } catch TaskOperationError.alreadyStarted {
                // As in Foundation, the dependency is too late to have an effect, unless the operation still waits to
                // be ready.
                try LegacyTable.knownNode(of: self)?.readiness?.addDependency(operation)
            }
        }
        addDependency(operation.asOperation)
    }

    /// Removes a dependency on an operation of this library.
    public func removeDependency(_ operation: AnyTaskOperation) {
        try? knownCounterpart?.removeDependency(operation)
        removeDependency(operation.asOperation)
        if !FoundationFields.isQueued(self) { _ = isReadyNow }
        guard let node = LegacyTable.knownNode(of: self) else { return }
        // Foundation would not tell of the end of the other dependencies.
        if countsRemovedDependencies { node.readiness?.finishExternally() } else { node.look() }
    }
}

extension AnyTaskOperation {
    /// Makes this operation start only after an operation of Foundation is finished, with any outcome. The latter may
    /// be on any queue or on none, and may be queued later, finished or cancelled.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` if the other operation waits for this one, and `.alreadyStarted`
    ///   if this operation has started or finished. If the call throws, nothing changes.
    public func addDependency(_ legacy: Foundation.Operation) throws(TaskOperationError) {
        try addDependency(legacy.counterpart)
    }

    /// Removes a dependency on an operation of Foundation.
    ///
    /// - Throws: `TaskOperationError.alreadyStarted` if this operation has started or finished.
    public func removeDependency(_ legacy: Foundation.Operation) throws(TaskOperationError) {
        if let counterpart = legacy.knownCounterpart { try removeDependency(counterpart) }
    }
}
