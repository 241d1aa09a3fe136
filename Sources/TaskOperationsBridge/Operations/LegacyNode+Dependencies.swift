public import Foundation
public import TaskOperations
internal import TaskOperationsExtras

extension Foundation.Operation {
    /// The operation of this library that finishes when this operation finishes. Other operations can depend on it:
    ///
    /// ```swift
    /// queue.addOperation(dependencies: [scan.asTaskOperation]) { try await buildIndex() }
    /// ```
    ///
    /// This operation may be in any state and on any queue. It may also be added to a queue later. If this operation is
    /// the proxy of an operation of this library, the property returns that operation.
    public var asTaskOperation: AnyTaskOperation {
        if let placeholder = self as? OperationStandIn { return placeholder.operation }
        let (node, operation) = LegacyNode.pair(for: self)
        if node.isForeign { node.watch() }
        return operation
    }

    /// The counterpart, if it already exists; otherwise nil.
    var knownCounterpart: AnyTaskOperation? {
        if let placeholder = self as? OperationStandIn { return placeholder.operation }
        return LegacyTable.knownNode(of: self)?.knownOperation
    }
}

extension LegacyNode {
    /// Returns the node of a Foundation operation, and the operation of the node.
    ///
    /// If the node's operation is new, also creates nodes for all direct and indirect dependencies. So cycles through
    /// these dependencies are found, and the dependencies inherit priorities.
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
        // In reverse order, each operation has no dependents yet. Without dependents, no search for cycles is needed.
        for (node, operation) in made.reversed() { try? node.mirrorDependencies(in: operation) }
        return made[0]
    }

    /// Returns the node of an operation. Creates the node if there is none.
    static func node(of legacy: Foundation.Operation) -> LegacyNode {
        LegacyTable.knownNode(of: legacy) ?? LegacyTable.node(of: legacy, orInsert: LegacyNode(of: legacy))
    }

    /// Updates the dependencies of the node's operation to the current dependencies of the Foundation operation.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` or `TaskOperationError.alreadyStarted`.
    func mirrorDependencies(in operation: AnyTaskOperation) throws(TaskOperationError) {
        let dependencies = legacy.unfinishedDependencies.map(\.asTaskOperation)
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

extension LegacyNode {
    /// Examines the operation after the end of each dependency. Foundation does not report its readiness while it counts a
    /// dependency that was removed.
    func watchDependencies() {
        for dependency in legacy.unfinishedDependencies {
            let identity = ObjectIdentifier(dependency)
            // Only the thread that examines the operation adds watchers.
            if apply({ $0.watched[identity] != nil }) { continue }
            let watcher = FinishWatcher { [weak self] in
                let ended = self?.apply { $0.watched.removeValue(forKey: identity) }
                extendLifetime(ended)
                self?.look()
            }
            let isUnfinished = apply { state in
                if state.life.phase == .finished { return false }
                state.watched[identity] = (dependency, watcher)
                return true
            }
            if isUnfinished { watcher.watch(dependency) }
        }
    }
}

extension Foundation.Operation {
    /// The unfinished dependencies. Foundation's `dependencies` also lists finished dependencies.
    var unfinishedDependencies: [Foundation.Operation] { dependencies.filter { !$0.isFinished } }

    /// Like `isReady`, but also correct if a dependency was removed. Foundation without the Objective-C runtime counts an
    /// unfinished dependency that was removed forever. If a finished one is removed from a cancelled operation, it counts
    /// one too few. In both cases, the operation would never be ready. A cancelled operation waits for no dependency.
    ///
    /// Do not call this for an operation in an `OperationQueue`, because `dependencies` does not list the queue's
    /// barriers.
    var isReadyNow: Bool {
        if isReady { return true }
        var isReset = false
        // Foundation may change the count meanwhile, and would not report that.
        while let count = FoundationFields.dependencyCount(of: self),
            isCancelled || dependencies.allSatisfy(\.isFinished)
        {
            FoundationFields.resetDependencyCount(of: self, from: count)
            isReset = true
        }
        return isReset && isReady
    }

    /// Whether Foundation still counts a dependency that was removed.
    var countsRemovedDependencies: Bool {
        FoundationFields.dependencyCount(of: self).map { $0 > unfinishedDependencies.count } ?? false
    }
}

// MARK: - Claims

extension LegacyNode {
    /// Claims operations of Foundation for a queue of this library. The caller must call `wasSubmitted` or `refuse` for
    /// each claim.
    ///
    /// - Parameters:
    ///   - threads: The threads on which the operations may block. They are not used if the queue has an executor.
    ///   - reportsCycles: Whether to report a cycle instead of throwing an error. An operation of the cycle then waits
    ///     only for its own `isReady`.
    /// - Throws: `BridgeError` if a queue cannot run one of the operations, or `TaskOperationError.dependencyCycle`. If
    ///   the call throws, no operation is claimed.
    static func claim(
        _ legacies: [Foundation.Operation], threads: LegacyThreads, reportsCycles: Bool = false
    ) throws -> [Claim] {
        var claims: [Claim] = []
        do {
            for legacy in legacies { claims.append(try claim(legacy, threads, reportsCycles)) }
            // Cancelled operations are skipped, because they do not wait for their dependencies.
            for claim in claims where claim.node?.legacy.isCancelled == false {
                try claim.mirrorDependencies(reportsCycles: reportsCycles)
            }
            // This step reads `isReady`. It is the last step, because `isReady` has side effects in some subclasses.
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
        if isFirst { operation.addHandler(on: bridgeExecutor) { [self] _ in operationEnded() } }
        operation.refusesAddition = false
    }

    /// Withdraws a claim.
    fileprivate func refuse() {
        let (operation, readiness) = apply { state in
            state.life.refuse()
            return (state.kept.take(), state.readiness.take())
        }
        if let readiness { try? operation?.removeDependency(readiness) }
        operation?.refusesAddition = true
        watch()
    }

    /// An operation that is about to be added to a queue of this library.
    struct Claim: Sendable {
        let operation: AnyTaskOperation
        /// The node of the Foundation operation; nil if the Foundation operation is a proxy.
        let node: LegacyNode?

        func refuse() { node?.refuse() }

        fileprivate func mirrorDependencies(reportsCycles: Bool) throws(TaskOperationError) {
            do throws(TaskOperationError) {
                try node?.mirrorDependencies(in: operation)
            } catch {
                // The operation was cancelled meanwhile. It waits for no dependency.
                if case .alreadyStarted = error { return }
                guard case .dependencyCycle = error, reportsCycles else { throw error }
                MisuseReport.report("\(error)")
            }
        }

        /// Removes the mirrored dependencies of the node's operation. It then waits only for the `isReady` of the
        /// Foundation operation.
        func dropDependencies() {
            guard let node else { return }
            for dependency in node.legacy.unfinishedDependencies {
                if let counterpart = dependency.knownCounterpart { try? operation.removeDependency(counterpart) }
            }
            node.apply { $0.mirrored = [] }
        }
    }
}
