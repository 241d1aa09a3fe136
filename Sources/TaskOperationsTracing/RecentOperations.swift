import TaskOperations

/// A value for each of the latest operations. The values are stored in two halves; when both are full, the older half
/// is dropped.
///
/// The collection keeps the memory of an operation, but not the value and the other objects that the operation holds.
/// So no other operation can have the same address and be mistaken for an operation in the collection.
struct RecentOperations<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        // Never read. An unowned reference keeps the operation's memory, but does not keep the objects that the
        // operation holds.
        unowned let operation: AnyTaskOperation
        var value: Value
    }

    private let halfCount: Int
    private var newer: [ObjectIdentifier: Entry] = [:]
    private var older: [ObjectIdentifier: Entry] = [:]

    /// - Parameter count: The maximum number of operations.
    init(count: Int) {
        halfCount = count / 2
    }

    /// The value of an operation; nil if the collection has none.
    subscript(operation: AnyTaskOperation) -> Value? {
        let identity = ObjectIdentifier(operation)
        return (newer[identity] ?? older[identity])?.value
    }

    mutating func insert(_ value: Value, for operation: AnyTaskOperation) {
        if newer.count >= halfCount {
            older = newer
            newer = [:]
        }
        newer[ObjectIdentifier(operation)] = Entry(operation: operation, value: value)
    }

    mutating func remove(_ operation: AnyTaskOperation) -> Value? {
        if newer.isEmpty, older.isEmpty { return nil }
        let identity = ObjectIdentifier(operation)
        return (newer.removeValue(forKey: identity) ?? older.removeValue(forKey: identity))?.value
    }
}
