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
    private(set) var unfinishedCount = 0

    var isEmpty: Bool { list.isEmpty }

    var operations: [AnyTaskOperation] { list.operations }

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
    /// - Parameter isInput: Whether the body needs the value of the dependency.
    mutating func insert(_ operation: AnyTaskOperation, isInput: Bool = false) -> Bool {
        if list.contains(operation) {
            if isInput { _ = list.update(operation) { $0.isInput = true } }
            return false
        }
        list.append(operation, Note(isInput: isInput))
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
    private struct Entry {
        /// Nil if the operation was removed.
        var operation: AnyTaskOperation?
        var note: Note
    }

    // The first entry is not in a collection. An access to a collection would copy the entry or need a coroutine.
    // Either takes 10 % of the cost of an operation in a chain of dependencies.
    private var first: Entry?
    private var others: [Entry] = []
    /// The position of each operation in `others`; nil if the list has no index.
    private var index: [ObjectIdentifier: Int]?
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var operations: [AnyTaskOperation] { compactMap { operation, _ in operation } }

    /// Returns whether a predicate is true for all operations. Stops at the first operation for which it is false.
    func allSatisfy(_ predicate: (AnyTaskOperation, Note) -> Bool) -> Bool {
        isSatisfied(first, predicate) && others.allSatisfy { isSatisfied($0, predicate) }
    }

    private func isSatisfied(_ entry: Entry?, _ predicate: (AnyTaskOperation, Note) -> Bool) -> Bool {
        guard let entry, let operation = entry.operation else { return true }
        return predicate(operation, entry.note)
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
        if others.isEmpty { return }
        for position in others.indices {
            if let operation = others[position].operation { body(operation) }
        }
    }

    /// Calls a function with each operation and its note. The function may change the note. The type of the note must
    /// not be empty. The thread sanitizer would mistake the address of an empty note for the address of the next
    /// object.
    @inline(__always)
    mutating func update(_ body: (AnyTaskOperation, inout Note) -> Void) {
        if let operation = first?.operation { body(operation, &first!.note) }
        if others.isEmpty { return }
        for position in others.indices {
            if let operation = others[position].operation { body(operation, &others[position].note) }
        }
    }

    mutating func contains(_ operation: AnyTaskOperation) -> Bool { position(of: operation) != nil }

    /// Adds an operation that is not in the list.
    mutating func append(_ operation: AnyTaskOperation, _ note: Note) {
        count += 1
        if first == nil {
            first = Entry(operation: operation, note: note)
        } else {
            index?[ObjectIdentifier(operation)] = others.count
            others.append(Entry(operation: operation, note: note))
        }
    }

    /// Calls a function that may change the note of an operation. Returns nil if the operation is not in the list.
    @inline(__always)
    mutating func update<Result>(_ operation: AnyTaskOperation, _ body: (inout Note) -> Result) -> Result? {
        guard let position = position(of: operation) else { return nil }
        return position < 0 ? body(&first!.note) : body(&others[position].note)
    }

    /// Removes an operation. The result may be the last reference to the operation. The caller keeps the result until
    /// all locks are released.
    mutating func remove(_ operation: AnyTaskOperation) -> (operation: AnyTaskOperation, note: Note)? {
        guard let position = position(of: operation) else { return nil }
        count -= 1
        let entry = position < 0 ? removeFirst() : remove(at: position)
        return (entry.operation!, entry.note)
    }

    private mutating func removeFirst() -> Entry {
        let entry = first!
        if others.count > Self.searchedCount {
            first!.operation = nil
            closeGapsIfMany()
        } else {
            first = others.isEmpty ? nil : others.removeFirst()
        }
        return entry
    }

    private mutating func remove(at position: Int) -> Entry {
        let entry = others[position]
        if index == nil {
            others.remove(at: position)
        } else {
            index?[ObjectIdentifier(entry.operation!)] = nil
            others[position].operation = nil
            closeGapsIfMany()
        }
        return entry
    }

    private mutating func closeGapsIfMany() {
        if count * 2 > others.count { return }
        index = nil
        // A new array is needed, because the old array would keep its capacity.
        others = others.filter { $0.operation != nil }
        if first?.operation == nil { first = others.isEmpty ? nil : others.removeFirst() }
    }

    private mutating func position(of operation: AnyTaskOperation) -> Int? {
        if first?.operation === operation { return -1 }
        if others.isEmpty { return nil }
        if index == nil, others.count > Self.searchedCount { makeIndex() }
        if let index { return index[ObjectIdentifier(operation)] }
        return others.firstIndex { $0.operation === operation }
    }

    private mutating func makeIndex() {
        var index = [ObjectIdentifier: Int](minimumCapacity: others.count)
        for (position, entry) in others.enumerated() {
            if let operation = entry.operation { index[ObjectIdentifier(operation)] = position }
        }
        self.index = index
    }

    private static var searchedCount: Int { 8 }
}
