#if canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    @_spi(Lock) internal import TaskOperations
    internal import TaskOperationsExtras

    // The parts that are specific to Foundation on Apple platforms. `Corelibs` has the same names for all other
    // platforms.

    /// Observes when an operation may have become ready or cancelled, and starts it.
    ///
    /// These two properties have no notification except key-value observation. If an observer is registered while
    /// another thread is between the two notifications of a change, the observer misses that change. So the state is
    /// examined again when the queue has a permit for the operation. `FinishWatcher` does not depend on observation.
    final class LegacyObservation: Sendable {
        private let legacy: Foundation.Operation
        private let observations: Lock<[Observation]>

        /// A token that ends an observation.
        private struct Observation: @unchecked Sendable {
            // Only the thread that takes the token out of its lock uses it: two threads may not end one observation.
            let token: NSKeyValueObservation
        }

        /// - Parameter onChange: Called by the thread that changes a property, or calls `init`.
        init(of legacy: Foundation.Operation, onChange: @escaping @Sendable () -> Void) {
            self.legacy = legacy
            observations = Lock(
                [\.isReady, \.isCancelled].map { property in
                    Observation(token: legacy.observe(property) { _, _ in onChange() })
                })
        }

        /// Starts the operation on this thread. Returns false if it is not ready.
        func start() -> Bool {
            if !legacy.isReady { return false }
            legacy.start()
            return true
        }

        func end() {
            let ended = observations.withLock { observations in
                defer { observations = [] }
                return observations
            }
            for observation in ended { observation.token.invalidate() }
        }
    }

    /// Foundation raises an exception with a reason if an operation is in two queues, and counts dependencies correctly.
    enum FoundationFields {
        static func dependencyCount(of operation: Foundation.Operation) -> Int? { nil }
        static func resetDependencyCount(of operation: Foundation.Operation, from seen: Int) {}
        static func isQueued(_ operation: Foundation.Operation) -> Bool { false }
    }

    extension Foundation.Operation {
        /// Foundation of Apple platforms does not need it.
        func forgetDependencies() {}

        /// A subclass that changes `isFinished` must notify observers itself.
        func tellFinish() {}
    }

    extension BridgedOperationQueue {
        // The overridden properties ask `taskQueue`.
        func prepareList() {}
        func list(_ operation: AnyTaskOperation, original: Foundation.Operation? = nil) {}
        func waitForList() async {}
    }

    extension CooperativePool {
        /// Whether the label of the current Dispatch queue is that of a queue of the pool.
        static var isCurrent: Bool {
            let label = String(cString: __dispatch_queue_get_label(nil))
            return label.hasPrefix("com.apple.root.") && label.hasSuffix(".cooperative")
        }
    }

    extension Progress {
        /// Returns the fraction of the progress, including its children.
        func report(to operation: AnyTaskOperation) { operation.reportProgress(fractionCompleted) }
    }

    extension HandOverLine {
        /// The queue of changes for one progress. Foundation calls observers, so a shared queue could delay other
        /// progresses.
        static func forProgress() -> HandOverLine { HandOverLine() }
    }
#endif
