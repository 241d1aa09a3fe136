internal import Foundation
internal import TaskOperations
internal import TaskOperationsExtras

extension Foundation.Operation {
    /// The operation of this library that represents this one, or that this one represents.
    var counterpart: AnyTaskOperation {
        if let placeholder = self as? OperationStandIn { return placeholder.operation }
        let (node, operation) = LegacyNode.pair(for: self)
        if node.isForeign { node.watch() }
        return operation
    }

    /// The counterpart, if it was already requested.
    var knownCounterpart: AnyTaskOperation? {
        if let placeholder = self as? OperationStandIn { return placeholder.operation }
        return LegacyTable.knownNode(of: self)?.knownOperation
    }
}

extension LegacyNode {
    /// The node of an operation of Foundation, with its operation. If it is created, nodes are also created for all
    /// operations on which this one depends. So cycles through them are found, and they inherit priorities.
    static func pair(for legacy: Foundation.Operation) -> (node: LegacyNode, operation: AnyTaskOperation) {
        var made: [(node: LegacyNode, operation: AnyTaskOperation)] = []
        var unexplored = [legacy]
        while let next = unexplored.popLast() {
            if next is OperationStandIn { continue }
            let node = node(of: next)
            let (operation, isNew) = node.operation()
            if isNew {
                made.append((node, operation))
                unexplored += next.unfinishedDependencies
            } else if made.isEmpty {
                return (node, operation)
            }
        }
        // An operation without dependents needs no search for a cycle, so the dependencies are added in reverse order.
        for (node, operation) in made.reversed() { try? node.mirrorDependencies(in: operation) }
        return made[0]
    }

    /// The node of an operation, which is created if there is none.
    static func node(of legacy: Foundation.Operation) -> LegacyNode {
        LegacyTable.knownNode(of: legacy) ?? LegacyTable.node(of: legacy, orInsert: LegacyNode(of: legacy))
    }

    /// Gives the node's operation the current dependencies of the operation of Foundation.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle`, and `.alreadyStarted`.
    func mirrorDependencies(in operation: AnyTaskOperation) throws(TaskOperationError) {
        let dependencies = legacy.unfinishedDependencies.map(\.counterpart)
        let wanted = Set(dependencies.map { ObjectIdentifier($0) })
        let dropped = apply { state in
            let dropped = state.mirrored.subtracting(wanted)
            state.mirrored.subtract(dropped)
            return dropped
        }
        let present = operation.dependencies
        for dependency in present where dropped.contains(ObjectIdentifier(dependency)) && !dependency.isFinished {
            try operation.removeDependency(dependency)
        }
        let known = Set(present.map { ObjectIdentifier($0) })
        for dependency in dependencies where !known.contains(ObjectIdentifier(dependency)) {
            try operation.addDependency(dependency)
            apply { _ = $0.mirrored.insert(ObjectIdentifier(dependency)) }
        }
    }
}

extension Foundation.Operation {
    /// Foundation keeps finished dependencies, with all that they depended on.
    var unfinishedDependencies: [Foundation.Operation] { dependencies.filter { !$0.isFinished } }

    /// Like `isReady`, but also correct if a dependency was removed before its end. Foundation without the Objective-C
    /// runtime counts such a dependency forever, so the operation would never be ready.
    ///
    /// Not for an operation that an `OperationQueue` has: `dependencies` does not list the queue's barriers.
    var isReadyNow: Bool {
        if isReady { return true }
        guard let count = FoundationFields.dependencyCount(of: self), unfinishedDependencies.isEmpty else {
            return false
        }
        FoundationFields.resetDependencyCount(of: self, from: count)
        return isReady
    }

    /// Whether Foundation counts a dependency that was removed.
    var countsRemovedDependencies: Bool {
        FoundationFields.dependencyCount(of: self).map { $0 > unfinishedDependencies.count } ?? false
    }
}

// MARK: - Claims

extension LegacyNode {
    /// Claims operations of Foundation for a queue of this library. Each claim is followed by `wasSubmitted` or
    /// `refuse`.
    ///
    /// - Parameters:
    ///   - threads: The threads on which the operations may block, unless the queue has its own executor.
    ///   - reportsCycles: Whether to report a cycle instead of throwing an error. An operation on a cycle then waits only
    ///     for its own `isReady`.
    /// - Throws: `BridgeError` if one of them cannot be run, and `TaskOperationError.dependencyCycle`. If the call
    ///   throws, no operation is claimed.
    static func claim(
        _ legacies: [Foundation.Operation], threads: LegacyThreads, reportsCycles: Bool = false
    ) throws -> [Claim] {
        var claims: [Claim] = []
        do {
            for legacy in legacies { claims.append(try claim(legacy, threads, reportsCycles)) }
            // A cancelled operation does not wait for its dependencies.
            for claim in claims where claim.node?.legacy.isCancelled == false {
                try claim.mirrorDependencies(reportsCycles: reportsCycles)
            }
            // This is read last, because in some subclasses the read has side effects.
            for claim in claims { claim.node?.willBeSubmitted() }
        } catch {
            for claim in claims { claim.refuse() }
            throw error
        }
        return claims
    }

    private static func claim(
        _ legacy: Foundation.Operation, _ threads: LegacyThreads, _ reportsCycles: Bool
    ) throws(BridgeError) -> Claim {
        if let placeholder = legacy as? OperationStandIn { return Claim(operation: placeholder.operation, node: nil) }
        if legacy.isExecuting || legacy.isFinished { throw .alreadyStarted(operation: legacy.title) }
        let (node, operation) = pair(for: legacy)
        let isClaimed = node.apply { state in
            if !state.life.claim() { return false }
            state.kept = operation
            state.threads = threads
            state.reportsCycles = reportsCycles
            return true
        }
        if !isClaimed { throw .alreadyAdded(operation: legacy.title) }
        if legacy.isExecuting || legacy.isFinished {
            node.refuse()
            throw .alreadyStarted(operation: legacy.title)
        }
        if FoundationFields.isQueued(legacy) {
            node.refuse()
            throw .inOperationQueue(operation: legacy.title)
        }
        node.prepare(operation, threads)
        return Claim(operation: operation, node: node)
    }

    private func prepare(_ operation: AnyTaskOperation, _ threads: LegacyThreads) {
        operation.priority = TaskPriority(legacy)
        operation.runBody(on: threads)
        let isFirst = apply { state in
            defer { state.hasHandler = true }
            return !state.hasHandler
        }
        if isFirst { operation.addCompletionHandler(on: bridgeExecutor) { [self] in operationEnded() } }
        operation.acceptSubmission()
    }

    /// Undoes a claim.
    fileprivate func refuse() {
        let (operation, readiness) = apply { state in
            state.life.refuse()
            return (state.kept.take(), state.readiness.take())
        }
        if let readiness { try? operation?.removeDependency(readiness) }
        operation?.rejectSubmission()
        watch()
    }

    /// An operation that a queue of this library is about to accept.
    struct Claim: Sendable {
        let operation: AnyTaskOperation
        /// Nil if the operation of Foundation represents an operation of this library.
        let node: LegacyNode?

        func refuse() { node?.refuse() }

        fileprivate func mirrorDependencies(reportsCycles: Bool) throws(TaskOperationError) {
            do throws(TaskOperationError) {
                try node?.mirrorDependencies(in: operation)
            } catch {
                guard case .dependencyCycle = error, reportsCycles else { throw error }
                MisuseReport.report("\(error)")
            }
        }

        /// Makes the operation of Foundation wait only for its `isReady`, and not for dependencies of the node's
        /// operation.
        func dropDependencies() {
            guard let node else { return }
            for dependency in node.legacy.unfinishedDependencies {
                if let counterpart = dependency.knownCounterpart { try? operation.removeDependency(counterpart) }
            }
            node.apply { $0.mirrored = [] }
        }
    }
}
