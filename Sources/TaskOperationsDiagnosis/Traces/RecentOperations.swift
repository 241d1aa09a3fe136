import TaskOperations

/// A table with values for the latest operations. The table has two halves. When both are full, it drops the older
/// half.
///
/// An operation in the table may be deinitialised, but its memory is not freed. So no new operation can have the same
/// address as an operation in the table.
struct RecentOperations<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        // Never read. An unowned reference keeps the operation's memory, but does not retain the operation.
        unowned let operation: AnyTaskOperation
        var value: Value
    }

    private let halfCount: Int
    private var newer: [ObjectIdentifier: Entry] = [:]
    private var older: [ObjectIdentifier: Entry] = [:]

    /// - Parameter count: The maximum number of operations in the table.
    init(count: Int) {
        halfCount = count / 2
    }

    /// The value of an operation; nil if the operation is not in the table.
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

    /// Changes the value of an operation in place. If the operation is not in the table, inserts `first` before.
    mutating func update(_ operation: AnyTaskOperation, from first: Value, _ change: (inout Value) -> Void) {
        let identity = ObjectIdentifier(operation)
        if newer[identity] == nil { insert(remove(operation) ?? first, for: operation) }
        change(&newer[identity]!.value)
    }

    mutating func remove(_ operation: AnyTaskOperation) -> Value? {
        if newer.isEmpty, older.isEmpty { return nil }
        let identity = ObjectIdentifier(operation)
        return (newer.removeValue(forKey: identity) ?? older.removeValue(forKey: identity))?.value
    }
}
