internal import Dispatch
internal import Foundation

#if !canImport(ObjectiveC)
    @_spi(Reflection) internal import Swift

    /// What Foundation knows of an operation and does not tell: its state in an `OperationQueue`, and the work item by
    /// which that queue starts it.
    ///
    /// Three fields of swift-corelibs-foundation are read and none is written. If one of them does not exist (any more),
    /// nothing is known: Foundation then stops the program with its own message if an operation is in two queues, and
    /// an operation starts on a thread of Dispatch.
    enum FoundationFields {
        private struct Offsets: Sendable {
            var state: Int?
            var lock: Int?
            var workItem: Int?
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
                default: break
                }
                return true
            }
            return found
        }()

        /// Whether an operation was added to an `OperationQueue`, and not started by it yet.
        static func isQueued(_ operation: Foundation.Operation) -> Bool {
            // `enqueuing`, `enqueued`, `dispatching` and `starting`: the second to the fifth case of the enumeration.
            (1...4).contains(state(of: operation))
        }

        /// Whether an operation is in an `OperationQueue` that takes it for one that is not ready.
        static func isHeldBack(_ operation: Foundation.Operation) -> Bool { state(of: operation) == 2 }

        /// Whether the work items of operations can be found.
        static var knowsWorkItems: Bool { offsets.lock != nil && offsets.workItem != nil }

        /// What an `OperationQueue` has Dispatch do to start an operation; nil if it has not got the operation (any more).
        static func workItem(of operation: Foundation.Operation) -> DispatchWorkItem? {
            guard let lockOffset = offsets.lock, let offset = offsets.workItem else { return nil }
            return withFields(of: operation) { fields in
                // Foundation changes the reference with this lock held, which is there as long as the operation is.
                let lock = fields.load(fromByteOffset: lockOffset, as: NSLock.self)
                return lock.withLock { fields.load(fromByteOffset: offset, as: DispatchWorkItem?.self) }
            }
        }

        private static func state(of operation: Foundation.Operation) -> UInt8 {
            guard let offset = offsets.state else { return 0 }
            // The field is a byte. A stale value is as good as one read a moment ago.
            return withFields(of: operation) { $0.load(fromByteOffset: offset, as: UInt8.self) }
        }

        private static func withFields<Result>(
            of operation: Foundation.Operation, _ read: (UnsafeRawPointer) -> Result
        ) -> Result {
            // The object is alive, and its fields are at fixed offsets in it.
            withExtendedLifetime(operation) {
                read(UnsafeRawPointer(Unmanaged.passUnretained(operation).toOpaque()))
            }
        }
    }
#else
    /// Foundation raises an exception with a reason if an operation is in two queues.
    enum FoundationFields {
        static func isQueued(_ operation: Foundation.Operation) -> Bool { false }
    }
#endif
