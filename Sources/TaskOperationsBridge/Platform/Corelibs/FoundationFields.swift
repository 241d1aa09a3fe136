#if !canImport(ObjectiveC)
    internal import Dispatch
    internal import Foundation
    @_spi(Reflection) internal import Swift
    internal import Synchronization

    /// Private fields of a Foundation operation in swift-corelibs-foundation.
    ///
    /// The fields are the state in an `OperationQueue`, the work item that starts the operation, and the number of
    /// unfinished dependencies. They are used only if the layout of the class is that of Swift 6.2 and 6.3. Otherwise
    /// their values are unknown. This has three effects:
    ///
    /// - If an operation is in two queues, Foundation stops the process with its own message.
    /// - Operations start on threads of Dispatch.
    /// - If an unfinished dependency is removed, the operation never starts.
    enum FoundationFields {
        fileprivate struct Offsets: Sendable {
            let state, lock, workItem, dependencyCount: Int
        }

        /// The places of the fields in a class.
        struct Layout: Sendable {
            /// Nil if there are differences.
            fileprivate var offsets: Offsets?
            /// The differences between the class and the `Operation` of the known versions.
            fileprivate(set) var differences: [String] = []
        }

        /// The types of the fields, by their names.
        private static let types = [
            "__state": "__NSOperationState", "__lock": "NSLock", "__schedule": "Optional<DispatchWorkItem>",
            "__unfinishedDependencyCount": "Int",
        ]

        /// The first cases of the state.
        private static let states = ["initialized", "enqueuing", "enqueued", "dispatching", "starting"]

        static let layout = layout(of: Foundation.Operation.self)

        /// Compares a class with the `Operation` of the known versions.
        static func layout(of type: AnyClass) -> Layout {
            var layout = Layout()
            var offsets: [String: Int] = [:]
            // Other versions may lack the function that lists the fields, so that this file would not compile.
            #if compiler(<6.4)
                let ofClass = _EachFieldOptions(rawValue: 1)  // `classType` is a mutable variable in Swift 6.
                _ = _forEachField(of: type, options: ofClass) { name, offset, type, _ in
                    let name = String(cString: name)
                    guard let expected = types[name] else { return true }
                    offsets[name] = offset
                    if "\(type)" != expected { layout.differences.append("\(name) is a \(type), not a \(expected)") }
                    if name == "__state", "\(type)" == expected, self.states(of: type) != self.states {
                        layout.differences.append("the first states are \(self.states(of: type)), not \(self.states)")
                    }
                    return true
                }
                for name in types.keys.sorted() where offsets[name] == nil {
                    layout.differences.append("\(type) has no field \(name)")
                }
            #else
                layout.differences.append("this version of Swift was not compared with Swift 6.3")
            #endif
            if layout.differences.isEmpty {
                layout.offsets = Offsets(
                    state: offsets["__state"]!, lock: offsets["__lock"]!, workItem: offsets["__schedule"]!,
                    dependencyCount: offsets["__unfinishedDependencyCount"]!)
            }
            return layout
        }

        /// The names of the first cases of an enumeration whose values are bytes.
        private static func states<State>(of type: State.Type) -> [String] {
            if MemoryLayout<State>.size != 1 { return [] }
            return (0..<UInt8(states.count)).map { number in
                withUnsafeBytes(of: number) { String(describing: $0.load(as: State.self)) }
            }
        }

        /// Whether an operation was added to an `OperationQueue` that has not started it yet.
        static func isQueued(_ operation: Foundation.Operation) -> Bool {
            // From `enqueuing` to `starting`.
            (1...4).contains(state(of: operation))
        }

        /// Whether an operation is in an `OperationQueue` that considers it not ready.
        static func isHeldBack(_ operation: Foundation.Operation) -> Bool { state(of: operation) == 2 }

        /// Whether `workItem(of:)` can find work items.
        static var knowsWorkItems: Bool { layout.differences.isEmpty }

        /// The work item with which an `OperationQueue` starts an operation; nil if no queue is going to start the
        /// operation.
        static func workItem(of operation: Foundation.Operation) -> DispatchWorkItem? {
            withLockedField(of: operation, at: layout.offsets?.workItem) { $0.load(as: DispatchWorkItem?.self) } ?? nil
        }

        /// Foundation's count of unfinished dependencies; nil if it is 0. If an unfinished dependency is removed,
        /// Foundation counts it forever.
        static func dependencyCount(of operation: Foundation.Operation) -> Int? {
            let count = withLockedField(of: operation, at: layout.offsets?.dependencyCount) { $0.load(as: Int.self) }
            return count == 0 ? nil : count
        }

        /// Sets the count of unfinished dependencies to 0. Does nothing if the count is not `seen` any more.
        static func resetDependencyCount(of operation: Foundation.Operation, from seen: Int) {
            withLockedField(of: operation, at: layout.offsets?.dependencyCount) { field in
                if field.load(as: Int.self) == seen { field.storeBytes(of: 0, as: Int.self) }
            }
        }

        private static func state(of operation: Foundation.Operation) -> UInt8 {
            guard let offset = layout.offsets?.state else { return 0 }
            // The field is a byte, so that no read is torn. A stale value is as correct as an earlier read.
            return withFields(of: operation) { $0.load(fromByteOffset: offset, as: UInt8.self) }
        }

        /// Accesses a field under the operation's lock, as Foundation does. Returns nil if the layout is unknown.
        private static func withLockedField<Result>(
            of operation: Foundation.Operation, at offset: Int?, _ access: (UnsafeMutableRawPointer) -> Result
        ) -> Result? {
            guard let offset, let lockOffset = layout.offsets?.lock else { return nil }
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
