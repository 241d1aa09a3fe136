public import Foundation
public import TaskOperations

extension TaskOperationQueue {
    /// Runs an operation of Foundation, of any subclass, unchanged.
    ///
    /// The operation starts when its own dependencies are finished and the queue has a permit for it. It holds the
    /// permit until `isFinished`. A synchronous `main()` may block, because it runs on a thread for such work. If the
    /// queue has an executor, it runs there instead; on `TaskOperationQueue.main` it runs on the main thread. The
    /// priority is read at the time of this call.
    ///
    /// - Returns: The operation that runs it. It can be awaited, depended on and cancelled; cancelling it cancels the
    ///   operation of Foundation. It fails with `CancellationError` if either of the two was cancelled.
    /// - Throws: `BridgeError` if the operation was already added to a queue, is executing or has finished. If it
    ///   represents an operation of this library, the errors of `addOperation` for that operation.
    @discardableResult
    public func addOperation(_ legacy: Foundation.Operation) throws -> AnyTaskOperation {
        try addOperations([legacy])[0]
    }

    /// Runs operations of Foundation, which may depend on each other. They are added in one step: no operation starts
    /// before the priorities of all are compared.
    ///
    /// - Throws: The errors for one operation, and `TaskOperationError.dependencyCycle` if they depend on each other in
    ///   a cycle. If the call throws, no operation is added.
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

extension OperationOptions {
    /// Adds operations of Foundation that must finish, with any outcome, before this operation starts.
    public static func legacyDependencies(_ dependencies: [Foundation.Operation]) -> OperationOptions {
        .dependencies(dependencies.map(\.counterpart))
    }
}

extension TaskOperationQueue {
    /// Adds claimed operations in one step.
    ///
    /// - Throws: The errors of `addOperations`. The caller must then refuse the claims.
    func add(_ claims: [LegacyNode.Claim]) throws(TaskOperationError) {
        // Adding one operation need not take the queue's lock.
        if claims.count == 1 {
            try addOperation(claims[0].operation)
        } else {
            try addOperations(claims.map(\.operation))
        }
        for claim in claims { claim.node?.wasSubmitted() }
    }
}
