#if canImport(ObjectiveC)
    internal import Foundation

    /// An observation of a property of an operation, which ends when it is told to.
    struct KeyValueObservation: @unchecked Sendable {
        // Only the thread that takes the value out of its lock uses this.
        private let observation: NSKeyValueObservation

        init<Value>(
            of property: KeyPath<Foundation.Operation, Value>, in operation: Foundation.Operation,
            options: NSKeyValueObservingOptions = [], onChange: @escaping @Sendable (Foundation.Operation) -> Void
        ) {
            observation = operation.observe(property, options: options) { operation, _ in onChange(operation) }
        }

        func end() { observation.invalidate() }
    }
#endif
