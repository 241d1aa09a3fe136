public import Foundation
public import TaskOperations

extension TaskOperationQueue {
    /// Adds a Foundation operation to the queue. Its class needs no changes.
    ///
    /// The Foundation operation starts when its own dependencies are finished and the queue has a permit. It holds the
    /// permit until `isFinished` is true. Its priority is read during this call.
    ///
    /// A synchronous `main()` may block, because it runs on a thread for such work. If the queue has an executor,
    /// `main()` runs on that executor instead. On `TaskOperationQueue.main`, `main()` runs on the main thread.
    ///
    /// - Parameter legacy: The Foundation operation.
    /// - Returns: The operation of this library that runs the Foundation operation. Cancelling it cancels the
    ///   Foundation operation. It fails with `CancellationError` if one of the two was cancelled.
    /// - Throws: `BridgeError` if the Foundation operation was already added to a queue, is executing or has finished.
    ///   If the Foundation operation is a proxy, throws the errors of `addOperation` for the represented operation.
    @discardableResult
    public func addOperation(_ legacy: Foundation.Operation) throws -> AnyTaskOperation {
        try addOperations([legacy])[0]
    }

    /// Adds Foundation operations to the queue in one step. They may depend on each other. The queue compares the
    /// priorities of all operations before it starts one of them.
    ///
    /// - Parameter legacies: The Foundation operations.
    /// - Returns: The operations of this library that run the Foundation operations, in the same order.
    /// - Throws: The errors of `addOperation(_:)`, or `TaskOperationError.dependencyCycle` if the operations depend on
    ///   each other in a cycle. If the call throws, no operation is added.
    @discardableResult
    public func addOperations(_ legacies: [Foundation.Operation]) throws -> [AnyTaskOperation] {
        let claims = try LegacyNode.claim(legacies, threads: LegacyThreads.threads(of: self))
        do {
            try add(claims)
        } catch {
            for claim in claims { claim.refuse() }
            throw error
        }
        return claims.map(\.operation)
    }
}

extension TaskOperationQueue {
    /// Adds claimed operations in one step.
    ///
    /// - Throws: The errors of `addOperations`. If the call throws, the caller must refuse the claims.
    func add(_ claims: [LegacyNode.Claim]) throws(TaskOperationError) {
        // `addOperation` need not take the queue's lock.
        if claims.count == 1 {
            try addOperation(claims[0].operation)
        } else {
            try addOperations(claims.map(\.operation))
        }
        for claim in claims { claim.node?.wasSubmitted() }
    }
}
