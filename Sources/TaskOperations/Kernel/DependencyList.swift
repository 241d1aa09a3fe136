/// The dependencies of an operation, in the order in which they were added, and the number of unfinished dependencies.
///
/// Each call takes amortised constant time, unless its comment says otherwise.
struct DependencyList: Sendable {
    fileprivate struct Note: Sendable {
        /// Whether the body needs the value of the dependency.
        var isInput: Bool
        var isFinished = false
        /// Whether the dependency lists the operation as a dependent. Only a linked dependency notifies the operation
        /// when it has finished.
        var isLinked = false
        /// The level that the dependency inherits from the operation; nil if it inherits no level.
        var handedOn: PriorityLevel?
    }

    private var list = OperationList<Note>()
    private(set) var unfinishedCount: Int32 = 0

    var isEmpty: Bool { list.isEmpty }

    var operations: [AnyTaskOperation] { list.operations }

    mutating func contains(_ operation: AnyTaskOperation) -> Bool { list.contains(operation) }

    /// The dependencies whose values the body needs. Takes linear time.
    var inputs: [AnyTaskOperation] { list.compactMap { $1.isInput ? $0 : nil } }

    /// The dependencies that have not been reported as finished. Takes linear time.
    var unfinished: [AnyTaskOperation] { list.compactMap { $1.isFinished ? nil : $0 } }

    /// Whether a predicate is true for all dependencies that have not been reported as finished. Takes linear time.
    func allUnfinished(_ predicate: (AnyTaskOperation) -> Bool) -> Bool {
        list.allSatisfy { $1.isFinished || predicate($0) }
    }

    /// Adds an unfinished dependency. If the list already contains the dependency, returns false and changes nothing.
    ///
    /// - Parameters:
    ///   - isInput: Whether the body needs the value of the dependency.
    ///   - level: The level that the dependency inherits, if the caller links the dependency at once; otherwise nil.
    mutating func insert(
        _ operation: AnyTaskOperation, isInput: Bool = false, linkedHandingOn level: PriorityLevel? = nil
    ) -> Bool {
        if list.contains(operation) {
            if isInput { _ = list.update(operation) { $0.isInput = true } }
            return false
        }
        list.append(operation, Note(isInput: isInput, isLinked: level != nil, handedOn: level))
        unfinishedCount += 1
        return true
    }

    /// Removes a dependency.
    ///
    /// - Returns: The removed dependency; nil if it is not in the list. The caller keeps the dependency until all locks
    ///   are released.
    mutating func remove(_ operation: AnyTaskOperation) -> Removed? {
        guard let (removed, note) = list.remove(operation) else { return nil }
        if note.isFinished { return Removed(operation: removed, isLinked: false, change: nil) }
        unfinishedCount -= 1
        let change = note.handedOn.map { Inheritance.Change(target: .operation(removed), from: $0, to: nil) }
        return Removed(operation: removed, isLinked: note.isLinked, change: change)
    }

    struct Removed: Sendable {
        let operation: AnyTaskOperation
        let isLinked: Bool
        let change: Inheritance.Change?
    }

    /// Marks a dependency as finished. Does nothing if the dependency is already marked or is not in the list.
    mutating func markFinished(_ operation: AnyTaskOperation) {
        let isNew = list.update(operation) { note in
            defer { note.isFinished = true }
            return !note.isFinished
        }
        if isNew == true { unfinishedCount -= 1 }
    }

    /// Records that all unfinished dependencies inherit `level`. Nil means that they inherit no level. Returns the
    /// changes. Takes linear time.
    mutating func propagate(_ level: PriorityLevel?) -> [Inheritance.Change] {
        if unfinishedCount == 0 { return [] }
        var changes: [Inheritance.Change] = []
        list.update { operation, note in
            if let change = note.propagate(level, to: operation) { changes.append(change) }
        }
        return changes
    }

    /// Records that one dependency inherits `level`. Nil means that the dependency inherits no level. Returns the
    /// change; nil if nothing changed.
    mutating func propagate(_ level: PriorityLevel?, to operation: AnyTaskOperation) -> Inheritance.Change? {
        list.update(operation) { $0.propagate(level, to: operation) } ?? nil
    }

    /// Records that all unfinished dependencies list the operation as a dependent and inherit `level`. They inherit no
    /// level if `level` is nil. Takes linear time.
    ///
    /// - Returns: The dependencies that did not list the operation before. The caller must register the operation with
    ///   them.
    mutating func link(handingOn level: PriorityLevel?) -> TinyArray<Link> {
        var links = TinyArray<Link>()
        if unfinishedCount == 0 { return links }
        list.update { operation, note in
            if note.isFinished || note.isLinked { return }
            links.append(Link(dependency: operation, from: note.handedOn, to: level))
            note.isLinked = true
            note.handedOn = level
        }
        return links
    }

    /// A dependency that must list the operation as a dependent and inherit another level from the operation.
    struct Link: Sendable {
        let dependency: AnyTaskOperation
        let from: PriorityLevel?
        let to: PriorityLevel?
    }

    /// Marks a dependency as linked. Returns true if it was not linked before. The caller must then add the dependent
    /// to the dependency's list.
    mutating func link(_ operation: AnyTaskOperation) -> Bool {
        list.update(operation) { note in
            defer { note.isLinked = true }
            return !note.isFinished && !note.isLinked
        } ?? false
    }

    /// Records that no dependency lists the operation as a dependent. Returns the unfinished dependencies that listed
    /// the operation before. Takes linear time.
    mutating func unlink() -> [AnyTaskOperation] {
        var unlinked: [AnyTaskOperation] = []
        list.update { operation, note in
            if !note.isFinished, note.isLinked { unlinked.append(operation) }
            note.isLinked = false
        }
        return unlinked
    }
}

extension DependencyList.Note {
    fileprivate mutating func propagate(_ level: PriorityLevel?, to operation: AnyTaskOperation) -> Inheritance.Change?
    {
        if isFinished || handedOn == level { return nil }
        defer { handedOn = level }
        return Inheritance.Change(target: .operation(operation), from: handedOn, to: level)
    }
}

/// A list of operations without duplicates, in the order in which they were added. Each operation has a note. A list of
/// one operation, the usual case, needs no allocation.
///
/// Lookups, additions and removals take amortised constant time. Short lists are searched from the front. The first
/// search of a long list creates an index.
struct OperationList<Note: Sendable>: Sendable {
    fileprivate struct Entry {
        /// Nil if the operation was removed.
        var operation: AnyTaskOperation?
        var note: Note
    }

    // The first entry is not in a collection. An access to a collection would copy the entry or need a coroutine: Cost,
    // row 7. The other entries take 8 bytes here, so that the links of an operation have at most 120 bytes: see
    // `Outcome`.

    /// All entries except the first; nil if there are none.
    private var others: Boxed<LongOperationList<Note>>?
    /// Nil if the first operation was removed.
    private var first: Entry?

    var count: Int { (first == nil ? 0 : 1) + (others?.value.count ?? 0) }

    var isEmpty: Bool { first == nil && others == nil }

    var operations: [AnyTaskOperation] { compactMap { operation, _ in operation } }

    /// Returns whether a predicate is true for all operations. Stops at the first operation for which it is false.
    func allSatisfy(_ predicate: (AnyTaskOperation, Note) -> Bool) -> Bool {
        if let first, let operation = first.operation, !predicate(operation, first.note) { return false }
        return others?.value.allSatisfy(predicate) ?? true
    }

    func compactMap<Result>(_ transform: (AnyTaskOperation, Note) -> Result?) -> [Result] {
        var results: [Result] = []
        _ = allSatisfy { operation, note in
            if let result = transform(operation, note) { results.append(result) }
            return true
        }
        return results
    }

    /// Calls a function with each operation. A call of a method that is not mutating would copy a list that is
    /// stored in an object.
    @inline(__always)
    mutating func forEach(_ body: (AnyTaskOperation) -> Void) {
        if let operation = first?.operation { body(operation) }
        if others != nil { others!.value.forEach(body) }
    }

    /// Calls a function with each operation and its note. The function may change the note. The type of the note must
    /// not be empty. The thread sanitizer would mistake the address of an empty note for the address of the next
    /// object.
    @inline(__always)
    mutating func update(_ body: (AnyTaskOperation, inout Note) -> Void) {
        if let operation = first?.operation { body(operation, &first!.note) }
        if others != nil { others!.value.update(body) }
    }

    mutating func contains(_ operation: AnyTaskOperation) -> Bool {
        if first?.operation === operation { return true }
        return others != nil && others!.value.position(of: operation) != nil
    }

    /// Adds an operation that is not in the list.
    mutating func append(_ operation: AnyTaskOperation, _ note: Note) {
        let entry = Entry(operation: operation, note: note)
        if isEmpty { return first = entry }
        if others == nil { others = Boxed(LongOperationList()) }
        others!.value.append(entry)
    }

    /// Calls a function that may change the note of an operation. Returns nil if the operation is not in the list.
    @inline(__always)
    mutating func update<Result>(_ operation: AnyTaskOperation, _ body: (inout Note) -> Result) -> Result? {
        if first?.operation === operation { return body(&first!.note) }
        return others == nil ? nil : others!.value.update(operation, body)
    }

    /// Removes an operation. The result may be the last reference to the operation. The caller keeps the result until
    /// all locks are released.
    mutating func remove(_ operation: AnyTaskOperation) -> (operation: AnyTaskOperation, note: Note)? {
        if let entry = first, entry.operation === operation {
            first = nil
            return (operation, entry.note)
        }
        guard others != nil, let note = others!.value.remove(operation) else { return nil }
        if others!.value.count == 0 { others = nil }
        return (operation, note)
    }
}

/// The entries of an `OperationList` except the first one.
private struct LongOperationList<Note: Sendable>: Sendable {
    typealias Entry = OperationList<Note>.Entry

    private var entries: [Entry] = []
    /// The position of each operation in `entries`; nil if the list has no index.
    private var index: [ObjectIdentifier: Int]?
    private(set) var count = 0

    func allSatisfy(_ predicate: (AnyTaskOperation, Note) -> Bool) -> Bool {
        entries.allSatisfy { entry in entry.operation.map { predicate($0, entry.note) } ?? true }
    }

    mutating func forEach(_ body: (AnyTaskOperation) -> Void) {
        for position in entries.indices {
            if let operation = entries[position].operation { body(operation) }
        }
    }

    mutating func update(_ body: (AnyTaskOperation, inout Note) -> Void) {
        for position in entries.indices {
            if let operation = entries[position].operation { body(operation, &entries[position].note) }
        }
    }

    mutating func update<Result>(_ operation: AnyTaskOperation, _ body: (inout Note) -> Result) -> Result? {
        position(of: operation).map { body(&entries[$0].note) }
    }

    mutating func append(_ entry: Entry) {
        index?[ObjectIdentifier(entry.operation!)] = entries.count
        entries.append(entry)
        count += 1
    }

    mutating func remove(_ operation: AnyTaskOperation) -> Note? {
        guard let position = position(of: operation) else { return nil }
        let note = entries[position].note
        count -= 1
        if index == nil {
            entries.remove(at: position)
        } else {
            index?[ObjectIdentifier(operation)] = nil
            entries[position].operation = nil
            closeGapsIfMany()
        }
        return note
    }

    private mutating func closeGapsIfMany() {
        if count * 2 > entries.count { return }
        index = nil
        // A new array is needed, because the old array would keep its capacity.
        entries = entries.filter { $0.operation != nil }
    }

    mutating func position(of operation: AnyTaskOperation) -> Int? {
        if index == nil, entries.count > 8 {
            let positions = entries.enumerated().map { (ObjectIdentifier($1.operation!), $0) }
            index = Dictionary(uniqueKeysWithValues: positions)
        }
        if let index { return index[ObjectIdentifier(operation)] }
        return entries.firstIndex { $0.operation === operation }
    }
}
