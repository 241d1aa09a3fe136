#if !canImport(ObjectiveC)
    internal import CDispatch
    internal import Foundation
    internal import TaskOperations
    internal import TaskOperationsExtras

    // The parts that are specific to swift-corelibs-foundation. `ObjectiveC.swift` has the same names for Apple
    // platforms.

    extension Foundation.Operation {
        /// Removes the dependencies of a finished operation, as a queue does.
        ///
        /// Foundation does not retain dependents: if a dependency finishes only now, it would access a dependent that
        /// may have been freed.
        func forgetDependencies() {
            for dependency in dependencies { removeDependency(dependency) }
        }

        /// Reports the end of a subclass that has finished when `start()` returns and might not have reported it. A
        /// second report is harmless.
        func tellFinish() {
            if isFinished { didChangeValue(forKey: "isFinished") }
        }
    }

    extension BridgedOperationQueue {
        func prepareList() { super.underlyingQueue = QueueMember.starter }

        /// Has the base class list an operation.
        func list(_ operation: AnyTaskOperation, original: Foundation.Operation? = nil) {
            let member = QueueMember(for: operation, original: original, in: members)
            super.addOperation(member)
            member.wasListed()
        }

        /// The base class lists an operation until a little after its end.
        func waitForList() async { await members.wait() }
    }

    extension CooperativePool {
        /// Whether the label of the current Dispatch queue is that of the pool's queues.
        static var isCurrent: Bool { strcmp(dispatch_queue_get_label(nil), "Swift global concurrent queue") == 0 }
    }

    extension Progress {
        /// Returns the fraction of the progress. Only its own counts can be read while other threads write them.
        func report(to operation: AnyTaskOperation) {
            operation.reportProgress(Int(completedUnitCount), of: Int(totalUnitCount))
        }
    }

    extension HandOverLine {
        /// Foundation uses no lock, and each change also changes the parents, which several progresses may share. It
        /// calls no observers, so a single queue of changes causes no delay.
        private static let shared = HandOverLine()

        static func forProgress() -> HandOverLine { shared }
    }
#endif
