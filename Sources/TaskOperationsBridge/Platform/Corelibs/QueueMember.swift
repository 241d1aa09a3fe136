#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    internal import Synchronization
    internal import TaskOperations
    internal import TaskOperationsExtras

    /// Represents an operation of a `BridgedOperationQueue` in the list of the base class.
    ///
    /// Without the Objective-C runtime, a subclass cannot override `operations` and `operationCount`, because both are
    /// declared in an extension. They list the operations that were added to the base class. So for each operation, a
    /// member is added to the base class.
    ///
    /// The base class may start a member at once, as an asynchronous operation. The member finishes when the
    /// represented operation finishes. A member must not finish before its start, because this would corrupt the lists
    /// of the base class.
    final class QueueMember: OperationStandIn, @unchecked Sendable {  // All mutable state is in `state`, a lock.
        /// The represented Foundation operation; nil for a block or an operation of this library.
        private let original: Foundation.Operation?
        /// All unfinished members of the queue.
        private let members: AsyncGroup

        private struct State: Sendable {
            var isListed = false
            var isStarted = false
            var hasEnded = false
            var isFinished = false
        }

        private let state = Lock(State())

        init(for operation: AnyTaskOperation, original: Foundation.Operation?, in members: AsyncGroup) {
            self.original = original
            self.members = members
            super.init(for: operation)
            members.enter()
            operation.addHandler(on: bridgeExecutor) { [self] _ in end() }
        }

        /// Records that the base class lists the member.
        func wasListed() { state.withLock { $0.isListed = true } }

        // MARK: Calls of the base class

        /// The Dispatch queue on which the base class starts members. `start()` of a member returns at once.
        static let starter = DispatchQueue(label: "BridgedOperationQueue members")

        override func start() {
            let hasEnded = state.withLock { state in
                state.isStarted = true
                return state.hasEnded
            }
            if hasEnded { finish() }
        }

        private func end() {
            let isStarted = state.withLock { state in
                state.hasEnded = true
                return state.isStarted
            }
            // The member must not finish before the base class has started it.
            if isStarted { finish() }
        }

        private func finish() {
            state.withLock { $0.isFinished = true }
            didChangeValue(forKey: "isFinished")
            members.leave()
        }

        // MARK: State for other code

        override var isAsynchronous: Bool { true }
        override var isFinished: Bool { state.withLock { $0.isFinished } }
        override var isExecuting: Bool { !isFinished && (original?.isExecuting ?? operation.isExecuting) }
        override var isCancelled: Bool { original?.isCancelled ?? operation.isCancelled }

        override var isReady: Bool {
            // While the member is being added, it seems ready, so that the base class starts it.
            !state.withLock { $0.isListed } || operation.dependencies.allSatisfy(\.isFinished)
        }

        override func cancel() {
            original?.cancel()
            operation.cancel()
        }

        override var name: String? {
            get { original?.name ?? operation.name }
            set { original?.name = newValue }
        }

        override var dependencies: [Foundation.Operation] {
            original?.dependencies ?? operation.dependencies.map(\.asOperation)
        }

        override func addDependency(_ dependency: Foundation.Operation) {
            original?.addDependency(dependency)
            do {
                try operation.addDependency(dependency)
            } catch TaskOperationError.alreadyStarted {
                // As in Foundation, a dependency that is added after the start has no effect.
            } catch {
                // Foundation's method cannot throw the error. `operation` has no new dependency. `original` has the
                // dependency, so `operation` waits until `original` is ready.
                MisuseReport.report("\(error)")
            }
        }

        override func removeDependency(_ dependency: Foundation.Operation) {
            original?.removeDependency(dependency)
            try? operation.removeDependency(dependency)
        }

        override var queuePriority: Foundation.Operation.QueuePriority {
            get { original?.queuePriority ?? Foundation.Operation.QueuePriority(operation.priority) }
            set {
                original?.queuePriority = newValue
                operation.priority = TaskPriority(newValue)
            }
        }

        override var qualityOfService: QualityOfService {
            get { original?.qualityOfService ?? QualityOfService(operation.priority) }
            set { original?.qualityOfService = newValue }
        }

        override var completionBlock: (@Sendable () -> Void)? {
            get { original.map(\.completionBlock) ?? super.completionBlock }
            set {
                if let original { original.completionBlock = newValue } else { super.completionBlock = newValue }
            }
        }

        override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Foundation.Operation else { return false }
            return other === self || other === original
        }

        override var hash: Int { original?.hash ?? super.hash }
    }
#endif
