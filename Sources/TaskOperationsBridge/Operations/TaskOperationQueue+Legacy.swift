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
        try addOperations([legacy])[0]
    }

    /// Runs operations of Foundation, which may depend on each other. They are added in one step: priorities are
    /// weighed over all of them before any starts.
    ///
    /// - Throws: As for one operation, and `TaskOperationError.dependencyCycle` if they depend on each other in a
    ///   circle. None is added then.
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
    /// Adds operations of Foundation that have to be finished before this one starts, whatever comes of them.
    public static func legacyDependencies(_ dependencies: [Foundation.Operation]) -> OperationOptions {
        .dependencies(dependencies.map(\.counterpart))
    }
}

extension TaskOperationQueue {
    /// Adds claimed operations in one step.
    ///
    /// - Throws: As `addOperations`. The claims are then still to be refused.
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
