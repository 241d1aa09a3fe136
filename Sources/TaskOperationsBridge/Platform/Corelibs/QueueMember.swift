#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    @_spi(Lock) internal import TaskOperations
    internal import TaskOperationsExtras

    /// Represents an operation of a `BridgedOperationQueue` in the list of its base class.
    ///
    /// Without the Objective-C runtime, a subclass cannot override `operations` and `operationCount`: both are declared
    /// in an extension, and read fields that only adding, starting and finishing change. So for each operation, a
    /// member is added to the base class. To the base class, the member is an asynchronous operation that it may start
    /// at once, and that finishes when the real one does. The base class starts members on Dispatch only. A member that
    /// is finished without having been started would corrupt the lists of the base class.
    final class QueueMember: OperationStandIn, @unchecked Sendable {  // All that changes is in `state`, a lock.
        /// The operation of Foundation that it represents; nil for an operation of this library, or a block.
        private let original: Foundation.Operation?
        /// All members of the queue that are not finished.
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
            operation.addCompletionHandler(on: bridgeExecutor) { [self] in end() }
        }

        /// The member is in the list.
        func wasListed() { state.withLock { $0.isListed = true } }

        // MARK: Calls of the base class

        /// The queue on which base classes start their members. Starting a member returns at once.
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
            // The base class must have started the member before it may finish.
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
            // The base class starts the member while adding it.
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
                // As in Foundation, the dependency is added too late to have an effect.
            } catch {
                // Foundation's function cannot throw the error. An operation of this library does not get the
                // dependency. An operation of Foundation has it, and waits until it is ready.
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
