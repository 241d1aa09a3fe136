#if !canImport(ObjectiveC)
    internal import CDispatch
    internal import Dispatch
    internal import Foundation
    internal import TaskOperations
    internal import TaskOperationsExtras

    // Code for swift-corelibs-foundation. `ObjectiveC.swift` declares the same names for Apple platforms.

    extension Foundation.Operation {
        /// Prevents accesses of the dependencies to a finished operation, which may then be freed. Foundation does not
        /// retain dependents.
        ///
        /// As in an `OperationQueue`, finished dependencies remain in the list. One of them may not have told its
        /// dependents yet.
        func forgetDependencies() {
            for dependency in dependencies {
                if dependency.isFinished { dependency.tellFinish() } else { removeDependency(dependency) }
            }
        }

        /// Removes the unfinished dependencies of a cancelled operation before its start.
        ///
        /// When an operation finishes, Foundation locks it and then its dependents. If two operations of a cycle finished at
        /// the same time, two threads would wait for each other's locks. A removal locks the dependency first, so the
        /// operations take turns. Foundation reads `isReady` during a removal, so a turn lasts as long as that. Must not
        /// be called within `isReady` of an operation.
        func forgetDependenciesInTurn() {
            if unfinishedDependencies.isEmpty { return }
            Self.forgetting.sync { forgetDependencies() }
            // A dependency that finished during its removal made the count wrong.
            _ = isReadyNow
        }

        private static let forgetting = DispatchQueue(label: "TaskOperationsBridge dependencies")

        /// Notifies Foundation that the operation is finished, so that it tells the dependents. A subclass might not
        /// have sent this notification yet, or might never send it. A second notification has no effect.
        func tellFinish() { didChangeValue(forKey: "isFinished") }
    }

    extension BridgedOperationQueue {
        func prepareList() { super.underlyingQueue = QueueMember.starter }

        /// Adds an operation to the list of the base class.
        func list(_ operation: AnyTaskOperation, original: Foundation.Operation? = nil) {
            let member = QueueMember(for: operation, original: original, in: members)
            super.addOperation(member)
            member.wasListed()
        }

        /// Waits until the list of the base class is empty. The base class removes an operation slightly after its end.
        func waitForList() async { await members.wait() }
    }

    extension CooperativePool {
        /// Whether the current Dispatch queue has the label of the pool's queues.
        static var isCurrent: Bool { strcmp(dispatch_queue_get_label(nil), "Swift global concurrent queue") == 0 }
    }

    extension Progress {
        /// Reports the counts of the progress to an operation. The fraction is not read, because only the counts can be
        /// read while other threads write.
        func report(to operation: AnyTaskOperation) {
            operation.reportProgress(Int(completedUnitCount), of: Int(totalUnitCount))
        }
    }

    extension CountedProgress {
        /// True because a parent counts a child again at each change of a complete child, and finally traps.
        static var isCountedAtEachCompletion: Bool { true }
    }

    extension HandOverLine {
        /// The common line of all progresses. A change of a progress also changes its parents, which several progresses
        /// may share, and Foundation uses no lock. The common line causes no delay, because Foundation calls no
        /// observers.
        private static let shared = HandOverLine()

        static func forProgress() -> HandOverLine { shared }
    }
#endif
