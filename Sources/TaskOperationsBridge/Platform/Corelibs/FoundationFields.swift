#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    @_spi(Reflection) internal import Swift

    /// Fields of an operation that Foundation does not publish: its state in an `OperationQueue`, the work item by which
    /// that queue starts it, and the number of its unfinished dependencies.
    ///
    /// The offsets are those of swift-corelibs-foundation. If a field does not exist, its value is unknown: Foundation
    /// then stops the program with its own message if an operation is in two queues, an operation starts on a thread of
    /// Dispatch, and an operation whose dependency was removed before the end of that dependency never starts.
    enum FoundationFields {
        private struct Offsets: Sendable {
            var state: Int?
            var lock: Int?
            var workItem: Int?
            var dependencyCount: Int?
        }

        /// `_EachFieldOptions.classType`, which is a variable and cannot be used from everywhere.
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
            // `enqueuing`, `enqueued`, `dispatching` and `starting`: the second to the fifth case of the enumeration.
            (1...4).contains(state(of: operation))
        }

        /// Whether an operation is in an `OperationQueue` that considers it not ready.
        static func isHeldBack(_ operation: Foundation.Operation) -> Bool { state(of: operation) == 2 }

        /// Whether the work items of operations can be found.
        static var knowsWorkItems: Bool { offsets.lock != nil && offsets.workItem != nil }

        /// The work item with which an `OperationQueue` starts an operation; nil if the queue does not have the
        /// operation (any more).
        static func workItem(of operation: Foundation.Operation) -> DispatchWorkItem? {
            withLockedField(of: operation, at: offsets.workItem) { $0.load(as: DispatchWorkItem?.self) } ?? nil
        }

        /// The number of unfinished dependencies that keep an operation from being ready, and nil if there are none.
        /// Foundation counts a dependency that was removed before its end as unfinished forever.
        static func dependencyCount(of operation: Foundation.Operation) -> Int? {
            let count = withLockedField(of: operation, at: offsets.dependencyCount) { $0.load(as: Int.self) }
            return count == 0 ? nil : count
        }

        /// Sets the number of unfinished dependencies to 0 if it has not changed since it was read.
        static func resetDependencyCount(of operation: Foundation.Operation, from seen: Int) {
            withLockedField(of: operation, at: offsets.dependencyCount) { field in
                if field.load(as: Int.self) == seen { field.storeBytes(of: 0, as: Int.self) }
            }
        }

        private static func state(of operation: Foundation.Operation) -> UInt8 {
            guard let offset = offsets.state else { return 0 }
            // The field is a byte. Reading a stale value is equivalent to reading it a moment earlier.
            return withFields(of: operation) { $0.load(fromByteOffset: offset, as: UInt8.self) }
        }

        /// Accesses a field that Foundation changes only with the operation's lock held. Returns nil if the field or the
        /// lock does not exist.
        private static func withLockedField<Result>(
            of operation: Foundation.Operation, at offset: Int?, _ access: (UnsafeMutableRawPointer) -> Result
        ) -> Result? {
            guard let offset, let lockOffset = offsets.lock else { return nil }
            return withFields(of: operation) { fields in
                // The operation never replaces its lock.
                let lock = fields.load(fromByteOffset: lockOffset, as: NSLock.self)
                return lock.withLock { access(fields + offset) }
            }
        }

        private static func withFields<Result>(
            of operation: Foundation.Operation, _ access: (UnsafeMutableRawPointer) -> Result
        ) -> Result {
            // The object is alive, and its fields are at fixed offsets in it.
            withExtendedLifetime(operation) { access(Unmanaged.passUnretained(operation).toOpaque()) }
        }
    }
#endif
