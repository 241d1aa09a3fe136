/// Operations in the order of adding, each once, with something about each.
///
/// Each call is constant time, amortised: short lists are searched from the front, and long ones get an index with the
/// first search.
struct OperationList<Note: Sendable>: Sendable {
    private struct Entry {
        /// Nil if the operation was removed.
        var operation: AnyTaskOperation?
        var note: Note
    }

    private var entries = Few<Entry>()
    private var index: [ObjectIdentifier: Int]?
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var operations: [AnyTaskOperation] { entries.compactMap(\.operation) }

    func forEach(_ body: (AnyTaskOperation) -> Void) {
        for entry in entries { if let operation = entry.operation { body(operation) } }
    }

    /// Calls a function with each operation, until it returns false. Returns whether it never did.
    func allSatisfy(_ predicate: (AnyTaskOperation, Note) -> Bool) -> Bool {
        entries.allSatisfy { entry in entry.operation.map { predicate($0, entry.note) } ?? true }
    }

    func compactMap<Result>(_ transform: (AnyTaskOperation, Note) -> Result?) -> [Result] {
        entries.compactMap { entry in entry.operation.flatMap { transform($0, entry.note) } }
    }

    /// Lets each note be changed.
    mutating func update(_ body: (AnyTaskOperation, inout Note) -> Void) {
        for position in entries.indices {
            if let operation = entries[position].operation { body(operation, &entries[position].note) }
        }
    }

    mutating func contains(_ operation: AnyTaskOperation) -> Bool { position(of: operation) != nil }

    /// Adds an operation that is not in the list.
    mutating func append(_ operation: AnyTaskOperation, _ note: Note) {
        index?[ObjectIdentifier(operation)] = entries.count
        entries.append(Entry(operation: operation, note: note))
        count += 1
    }

    /// Changes what is noted about an operation. Returns nil if it is not in the list.
    mutating func update<Result>(_ operation: AnyTaskOperation, _ body: (inout Note) -> Result) -> Result? {
        guard let position = position(of: operation) else { return nil }
        return body(&entries[position].note)
    }

    /// Removes an operation. What is returned may be the last to hold it: it must be kept until all locks are left.
    mutating func remove(_ operation: AnyTaskOperation) -> (operation: AnyTaskOperation, note: Note)? {
        guard let position = position(of: operation) else { return nil }
        let entry = entries[position]
        count -= 1
        if index == nil {
            entries.remove(at: position)
        } else {
            entries[position].operation = nil
            index?[ObjectIdentifier(operation)] = nil
            if count * 2 < entries.count { closeGaps() }
        }
        return (entry.operation!, entry.note)
    }

    private mutating func position(of operation: AnyTaskOperation) -> Int? {
        if index == nil, entries.count > Self.searchedCount { makeIndex() }
        if let index { return index[ObjectIdentifier(operation)] }
        return entries.firstIndex { $0.operation === operation }
    }

    private mutating func closeGaps() {
        entries = Few(entries.filter { $0.operation != nil })
        index = nil
    }

    private mutating func makeIndex() {
        var index = [ObjectIdentifier: Int](minimumCapacity: entries.count)
        for (position, entry) in entries.enumerated() {
            if let operation = entry.operation { index[ObjectIdentifier(operation)] = position }
        }
        self.index = index
    }

    private static var searchedCount: Int { 8 }
}
