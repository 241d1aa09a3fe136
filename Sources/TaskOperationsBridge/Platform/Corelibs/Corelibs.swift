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
        /// Foundation keeps dependents unretained: if a dependency finishes only now, it would look for one that may be
        /// gone.
        func forgetDependencies() {
            for dependency in dependencies { removeDependency(dependency) }
        }

        /// Reports the finish of a subclass that is finished on return from `start()` and might not have reported it. A
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
        /// Reports how far the progress has come. Only its own counts can be read while others write them.
        func report(to operation: AnyTaskOperation) {
            operation.reportProgress(Int(completedUnitCount), of: Int(totalUnitCount))
        }
    }

    extension HandOverLine {
        /// Foundation guards nothing, and each change reaches the parents, which several progresses may have in common.
        /// It calls no observers, so a single line delays nothing.
        private static let shared = HandOverLine()

        static func forProgress() -> HandOverLine { shared }
    }
#endif
