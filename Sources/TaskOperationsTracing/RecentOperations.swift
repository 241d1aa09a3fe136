import TaskOperations

/// Something about each of the last operations, in two halves of which the older is dropped.
///
/// It does not keep what an operation holds, such as its value, but its memory: no other operation can take the place of
/// one that is here and be mistaken for it.
struct RecentOperations<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        // Never read. An unowned reference keeps the memory, and nothing of the operation's is freed with it.
        unowned let operation: AnyTaskOperation
        var value: Value
    }

    private let halfCount: Int
    private var newer: [ObjectIdentifier: Entry] = [:]
    private var older: [ObjectIdentifier: Entry] = [:]

    /// - Parameter count: How many operations are here at most.
    init(count: Int) {
        halfCount = count / 2
    }

    /// What is known of an operation.
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
