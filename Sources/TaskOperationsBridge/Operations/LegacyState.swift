internal import Foundation

#if !canImport(ObjectiveC)
    @_spi(Reflection) internal import Swift

    /// What Foundation knows of an operation and does not tell: whether it is in an `OperationQueue`.
    ///
    /// Starting such an operation stops the program inside Foundation, with a message that does not say why. So one
    /// byte of the operation is read: the state in swift-corelibs-foundation. Where there is no such field (any
    /// more), nothing is known, and Foundation stops the program as ever.
    enum LegacyState {
        /// `_EachFieldOptions.classType`, which is a variable and cannot be used from everywhere.
        private static let ofClass = _EachFieldOptions(rawValue: 1)

        private static let offset: Int? = {
            var found: Int?
            _ = _forEachField(of: Foundation.Operation.self, options: ofClass) { name, offset, type, _ in
                if String(cString: name) == "__state", "\(type)" == "__NSOperationState" { found = offset }
                return found == nil
            }
            return found
        }()

        /// Whether an operation was added to an `OperationQueue`, and not started by it yet.
        static func isQueued(_ operation: Foundation.Operation) -> Bool {
            guard let offset else { return false }
            // The object is alive, and the field is a byte in it. A stale value is as good as one read a moment ago.
            let state = withExtendedLifetime(operation) {
                UnsafeRawPointer(Unmanaged.passUnretained(operation).toOpaque())
                    .load(fromByteOffset: offset, as: UInt8.self)
            }
            return queuedStates.contains(state)
        }

        /// `enqueuing`, `enqueued`, `dispatching` and `starting`: the second to the fifth case of the enumeration.
        private static let queuedStates: ClosedRange<UInt8> = 1...4
    }
#else
    /// Foundation raises an exception with a reason where an operation is in two queues.
    enum LegacyState {
        static func isQueued(_ operation: Foundation.Operation) -> Bool { false }
    }
#endif
