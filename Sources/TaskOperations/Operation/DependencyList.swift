/// The dependencies of an operation, in the order in which they were added, and the number of unfinished dependencies.
///
/// Each call takes amortised constant time, unless its comment says otherwise.
struct DependencyList: Sendable {
    fileprivate struct Note: Sendable {
        /// Whether the body needs the value of the dependency.
        let isInput: Bool
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
        if list.contains(operation) { return false }
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
