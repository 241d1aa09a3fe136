public import Foundation
public import TaskOperations

extension TaskOperationQueue {
    /// Runs an operation of Foundation, of whatever subclass, unchanged.
    ///
    /// It starts when its own dependencies are finished and it is its turn, and holds a permit until `isFinished`. A
    /// synchronous `main()` may block: it runs on a thread for such work, or on the queue's executor where it has one,
    /// and on `TaskOperationQueue.main` on the main thread. Its priority is taken as it is now.
    ///
    /// - Returns: What runs it: it can be awaited, depended on and cancelled, which cancels the operation. It fails with
    ///   `CancellationError` if the operation was cancelled, on either side.
    /// - Throws: `BridgeError` if the operation was added to a queue before, executes or is finished. For one that
    ///   stands for an operation of ours, as `addOperation` throws for that.
    @discardableResult
    public func addOperation(_ legacy: Foundation.Operation) throws -> AnyTaskOperation {
        try add([legacy]) { operations throws(TaskOperationError) in try addOperation(operations[0]) }[0]
    }

    /// Runs operations of Foundation, which may depend on each other. They are added in one step: priorities are
    /// weighed over all of them before any starts.
    ///
    /// - Throws: As for one operation, and `TaskOperationError.dependencyCycle` if they depend on each other in a
    ///   circle. None is added then.
    @discardableResult
    public func addOperations(_ legacies: [Foundation.Operation]) throws -> [AnyTaskOperation] {
        try add(legacies) { operations throws(TaskOperationError) in try addOperations(operations) }
    }

    /// Makes an operation from a closure that starts after operations of Foundation are finished, and adds it.
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of the queue, and is its task's own.
    ///   - dependencies: Operations that have to be finished first, whatever comes of them.
    ///   - legacyDependencies: The same, of Foundation.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        dependencies: [AnyTaskOperation] = [],
        legacyDependencies: [Foundation.Operation],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        addOperation(
            name: name, priority: priority, dependencies: dependencies + legacyDependencies.map(\.counterpart),
            body: body)
    }
}

extension TaskOperationQueue {
    /// Adds what operations of Foundation are to this queue.
    ///
    /// - Parameter add: Adds the operations in one step.
    func add(
        _ legacies: [Foundation.Operation],
        by add: ([AnyTaskOperation]) throws(TaskOperationError) -> Void
    ) throws -> [AnyTaskOperation] {
        let claims = try LegacyNode.claim(legacies)
        do {
            try add(claims.map(\.operation))
        } catch {
            for claim in claims { claim.refuse() }
            throw error
        }
        for claim in claims { claim.node?.wasSubmitted() }
        return claims.map(\.operation)
    }
}
