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
    ///   `CancellationError` where the operation was cancelled, on either side.
    /// - Throws: `BridgeError` where the operation was added to a queue before, executes or is finished. For one that
    ///   stands for an operation of ours, as `addOperation` throws for that.
    @discardableResult
    public func addOperation(_ legacy: Foundation.Operation) throws -> AnyTaskOperation {
        let operation = try runner(of: legacy)
        try addOperation(operation)
        return operation
    }

    /// Runs operations of Foundation, which may depend on each other. They are added in one step: priorities are
    /// weighed over all of them before any starts.
    ///
    /// - Throws: As for one operation, and `TaskOperationError.dependencyCycle` where they depend on each other in a
    ///   circle. None is added then.
    @discardableResult
    public func addOperations(_ legacies: [Foundation.Operation]) throws -> [AnyTaskOperation] {
        let operations = try runners(of: legacies)
        do {
            try addOperations(operations)
        } catch {
            for legacy in legacies { LegacyTable.removeRunner(of: legacy) }
            throw error
        }
        return operations
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

// MARK: - Runners

/// What runs operations of Foundation on a queue of ours, depending on each other as these do.
///
/// - Throws: `BridgeError` where one of them cannot be run, and `TaskOperationError.dependencyCycle`.
func runners(of legacies: [Foundation.Operation]) throws -> [AnyTaskOperation] {
    if legacies.count == 1 { return [try runner(of: legacies[0])] }
    var operations: [AnyTaskOperation] = []
    do {
        for legacy in legacies { operations.append(try runner(of: legacy, isLinked: false)) }
        for (legacy, operation) in zip(legacies, operations) where !(legacy is OperationStandIn) {
            for dependency in legacy.dependencies { try operation.addDependency(dependency.counterpart) }
        }
    } catch {
        for legacy in legacies.prefix(operations.count) { LegacyTable.removeRunner(of: legacy) }
        throw error
    }
    return operations
}

/// What runs an operation of Foundation on a queue of ours.
///
/// - Parameter isLinked: Whether it depends on what the operation depends on already.
/// - Throws: `BridgeError` where the operation cannot be run.
func runner(
    of legacy: Foundation.Operation, isLinked: Bool = true
) throws(BridgeError) -> AnyTaskOperation {
    if let standIn = legacy as? OperationStandIn { return standIn.operation }
    if legacy.isExecuting || legacy.isFinished { throw .alreadyStarted(operation: legacy.title) }
    if LegacyState.isQueued(legacy) { throw .inOperationQueue(operation: legacy.title) }
    let run = LegacyRun(legacy)
    let operation = TaskOperation<Void>(
        name: legacy.name, priority: TaskPriority(legacy),
        dependencies: isLinked ? legacy.dependencies.map(\.counterpart) : []
    ) {
        try await run.perform()
    }
    if !LegacyTable.insert(operation, running: legacy) { throw .alreadyAdded(operation: legacy.title) }
    operation.runBody(on: legacyExecutor)
    operation.addCompletionHandler(on: bridgeExecutor) { run.hasEnded() }
    return operation
}
