/// The dependencies of an operation, in the order in which they were added, and the number of unfinished dependencies.
///
/// Each call takes amortised constant time, unless its comment says otherwise.
struct DependencyList: Sendable {
    fileprivate struct Note: Sendable {
        var isFinished = false
        /// Whether the dependency lists the operation as a dependent. A linked dependency notifies the operation when
        /// it has finished.
        var isLinked = false
        /// The level that the dependency inherits from the operation; nil if it inherits none.
        var handedOn: PriorityLevel?
    }

    private var list = OperationList<Note>()
    private(set) var unfinishedCount = 0

    var isEmpty: Bool { list.isEmpty }

    var operations: [AnyTaskOperation] { list.operations }

    /// Dependencies that have not been reported as finished. Linear.
    var unfinished: [AnyTaskOperation] { list.compactMap { $1.isFinished ? nil : $0 } }

    /// Whether a predicate is true for all dependencies that have not been reported as finished. Linear.
    func allUnfinished(_ predicate: (AnyTaskOperation) -> Bool) -> Bool {
        list.allSatisfy { $1.isFinished || predicate($0) }
    }

    /// Adds a dependency as unfinished. If the list already contains the dependency, returns false and changes nothing.
    mutating func insert(_ operation: AnyTaskOperation) -> Bool {
        if list.contains(operation) { return false }
        list.append(operation, Note())
        unfinishedCount += 1
        return true
    }

    /// Removes a dependency.
    ///
    /// - Returns: The dependency, whether it lists the operation as a dependent, and the change of its inherited level.
    ///   Nil if the dependency is not in the list. The caller keeps the dependency until all locks are released.
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

    /// Marks a dependency as finished. Does nothing if the dependency is not in the list or is already marked.
    mutating func markFinished(_ operation: AnyTaskOperation) {
        let isNew = list.update(operation) { note in
            defer { note.isFinished = true }
            return !note.isFinished
        }
        if isNew == true { unfinishedCount -= 1 }
    }

    /// Records that unfinished dependencies inherit `level`; nil means that they inherit no level. Linear.
    ///
    /// - Returns: The changes.
    mutating func handOn(_ level: PriorityLevel?) -> [Inheritance.Change] {
        if unfinishedCount == 0 { return [] }
        var changes: [Inheritance.Change] = []
        list.update { operation, note in
            if let change = note.handOn(level, to: operation) { changes.append(change) }
        }
        return changes
    }

    /// Records that one dependency inherits `level`; nil means that it inherits no level. Returns the change; nil if
    /// nothing changed.
    mutating func handOn(_ level: PriorityLevel?, to operation: AnyTaskOperation) -> Inheritance.Change? {
        list.update(operation) { $0.handOn(level, to: operation) } ?? nil
    }

    /// Records that unfinished dependencies list the operation as a dependent and inherit `level`; nil means that they
    /// inherit no level. Linear.
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

    /// A dependency that must list the operation as a dependent, and inherit another level from it.
    struct Link: Sendable {
        let dependency: AnyTaskOperation
        let from: PriorityLevel?
        let to: PriorityLevel?
    }

    /// Records that one dependency lists the operation as a dependent. Returns true if the dependency did not list it
    /// before: the caller must then register the operation with it.
    mutating func link(_ operation: AnyTaskOperation) -> Bool {
        list.update(operation) { note in
            defer { note.isLinked = true }
            return !note.isFinished && !note.isLinked
        } ?? false
    }

    /// Records that no dependency lists the operation as a dependent. Returns the unfinished dependencies that listed
    /// it before. Linear.
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
    fileprivate mutating func handOn(_ level: PriorityLevel?, to operation: AnyTaskOperation) -> Inheritance.Change? {
        if isFinished || handedOn == level { return nil }
        defer { handedOn = level }
        return Inheritance.Change(target: .operation(operation), from: handedOn, to: level)
    }
}
