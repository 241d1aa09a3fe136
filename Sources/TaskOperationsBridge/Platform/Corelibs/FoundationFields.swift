#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    @_spi(Reflection) internal import Swift

    /// Private fields of a Foundation operation in swift-corelibs-foundation.
    ///
    /// The fields are the state in an `OperationQueue`, the work item that starts the operation, and the number of
    /// unfinished dependencies. If Foundation does not have these fields, their values are unknown. This has three
    /// effects:
    ///
    /// - If an operation is in two queues, Foundation stops the process with its own message.
    /// - Operations start on threads of Dispatch.
    /// - If an unfinished dependency is removed, the operation never starts.
    enum FoundationFields {
        private struct Offsets: Sendable {
            var state: Int?
            var lock: Int?
            var workItem: Int?
            var dependencyCount: Int?
        }

        /// The value of `_EachFieldOptions.classType`. Swift 6 forbids access to that variable, because it is mutable.
        private static let ofClass = _EachFieldOptions(rawValue: 1)

        private static let offsets: Offsets = {
            var found = Offsets()
            _ = _forEachField(of: Foundation.Operation.self, options: ofClass) { name, offset, type, _ in
                switch (String(cString: name), "\(type)") {
                case ("__state", "__NSOperationState"): found.state = offset
                case ("__lock", "NSLock"): found.lock = offset
                case ("__schedule", "Optional<DispatchWorkItem>"): found.workItem = offset
                case ("__unfinishedDependencyCount", "Int"): found.dependencyCount = offset
                default: break
                }
                return true
            }
            return found
        }()

        /// Whether an operation was added to an `OperationQueue` that has not started it yet.
        static func isQueued(_ operation: Foundation.Operation) -> Bool {
            // These are the second to the fifth case: `enqueuing`, `enqueued`, `dispatching` and `starting`.
            (1...4).contains(state(of: operation))
        }

        /// Whether an operation is in an `OperationQueue` that considers it not ready.
        static func isHeldBack(_ operation: Foundation.Operation) -> Bool { state(of: operation) == 2 }

        /// Whether `workItem(of:)` can find work items.
        static var knowsWorkItems: Bool { offsets.lock != nil && offsets.workItem != nil }

        /// The work item with which an `OperationQueue` starts an operation; nil if no queue is going to start the
        /// operation.
        static func workItem(of operation: Foundation.Operation) -> DispatchWorkItem? {
            withLockedField(of: operation, at: offsets.workItem) { $0.load(as: DispatchWorkItem?.self) } ?? nil
        }

        /// Foundation's count of unfinished dependencies; nil if it is 0. If an unfinished dependency is removed,
        /// Foundation counts it forever.
        static func dependencyCount(of operation: Foundation.Operation) -> Int? {
            let count = withLockedField(of: operation, at: offsets.dependencyCount) { $0.load(as: Int.self) }
            return count == 0 ? nil : count
        }

        /// Sets the count of unfinished dependencies to 0. Does nothing if the count is not `seen` any more.
        static func resetDependencyCount(of operation: Foundation.Operation, from seen: Int) {
            withLockedField(of: operation, at: offsets.dependencyCount) { field in
                if field.load(as: Int.self) == seen { field.storeBytes(of: 0, as: Int.self) }
            }
        }

        private static func state(of operation: Foundation.Operation) -> UInt8 {
            guard let offset = offsets.state else { return 0 }
            // The field is a byte, so that no read is torn. A stale value is as correct as an earlier read.
            return withFields(of: operation) { $0.load(fromByteOffset: offset, as: UInt8.self) }
        }

        /// Accesses a field under the operation's lock, as Foundation does. Returns nil if the field or the lock does
        /// not exist.
        private static func withLockedField<Result>(
            of operation: Foundation.Operation, at offset: Int?, _ access: (UnsafeMutableRawPointer) -> Result
        ) -> Result? {
            guard let offset, let lockOffset = offsets.lock else { return nil }
            return withFields(of: operation) { fields in
                // The lock is constant, so that it can be read without a lock.
                let lock = fields.load(fromByteOffset: lockOffset, as: NSLock.self)
                return lock.withLock { access(fields + offset) }
            }
        }

        private static func withFields<Result>(
            of operation: Foundation.Operation, _ access: (UnsafeMutableRawPointer) -> Result
        ) -> Result {
            // The operation is retained during the access, and its fields are at fixed offsets.
            withExtendedLifetime(operation) { access(Unmanaged.passUnretained(operation).toOpaque()) }
        }
    }
#endif
