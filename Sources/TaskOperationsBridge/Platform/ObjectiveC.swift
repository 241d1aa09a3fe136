#if canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    internal import Synchronization
    internal import TaskOperations
    internal import TaskOperationsExtras

    // Code for Foundation on Apple platforms. The folder `Corelibs` declares the same names for other platforms.

    /// Observes when an operation may have become ready or cancelled, and starts the operation.
    ///
    /// Only key-value observation reports changes of these two properties. An observer misses a change if it is
    /// registered while another thread is making the change. So the node examines the operation again when the queue
    /// has a permit for it. `FinishWatcher` does not use key-value observation.
    final class LegacyObservation: Sendable {
        private let legacy: Foundation.Operation
        private let observations: Lock<[Observation]>

        /// A token that observes one property.
        private struct Observation: @unchecked Sendable {
            // Only the thread that removes the token from `observations` uses the token.
            let token: NSKeyValueObservation
        }

        /// - Parameter onChange: Called by the thread that changes a property.
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

    /// Foundation on Apple platforms needs none of these workarounds. It counts dependencies correctly, and raises an
    /// exception with a reason if an operation is in two queues.
    enum FoundationFields {
        static func dependencyCount(of operation: Foundation.Operation) -> Int? { nil }
        static func resetDependencyCount(of operation: Foundation.Operation, from seen: Int) {}
        static func isQueued(_ operation: Foundation.Operation) -> Bool { false }
    }

    extension Foundation.Operation {
        /// Does nothing, because Foundation on Apple platforms retains dependents.
        func forgetDependencies() {}

        /// Does nothing, because this Foundation needs no order of removals.
        func forgetDependenciesInTurn() {}

        /// Does nothing, because a subclass must itself notify observers of `isFinished`.
        func tellFinish() {}
    }

    extension BridgedOperationQueue {
        // The list of the base class is not used. The overridden properties read `taskQueue`.
        func prepareList() {}
        func list(_ operation: AnyTaskOperation, original: Foundation.Operation? = nil) {}
        func waitForList() async {}
    }

    extension CooperativePool {
        /// Whether the current Dispatch queue has the label of one of the pool's queues.
        static var isCurrent: Bool {
            let label = String(cString: __dispatch_queue_get_label(nil))
            return label.hasPrefix("com.apple.root.") && label.hasSuffix(".cooperative")
        }
    }

    extension Progress {
        /// Reports the fraction of the progress, which includes its children, to an operation.
        func report(to operation: AnyTaskOperation) { operation.reportProgress(fractionCompleted) }
    }

    extension CountedProgress {
        /// False because a parent ignores a child that was complete.
        static var isCountedAtEachCompletion: Bool { false }
    }

    extension HandOverLine {
        /// Returns a new line for one progress. Foundation calls observers, so that a shared line could delay other
        /// progresses.
        static func forProgress() -> HandOverLine { HandOverLine() }
    }
#endif
