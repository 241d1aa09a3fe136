/// The dependencies of an operation, in the order of adding, and the number of unfinished ones.
///
/// Each call takes amortised constant time, unless its comment says otherwise.
struct DependencyList: Sendable {
    fileprivate struct Note: Sendable {
        var isFinished = false
        /// Whether the dependency knows of the operation, and tells it that it has finished.
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

    /// Whether all dependencies that have not been reported as finished satisfy a condition. Linear.
    func allUnfinished(_ predicate: (AnyTaskOperation) -> Bool) -> Bool {
        list.allSatisfy { $1.isFinished || predicate($0) }
    }

    /// Adds a dependency as unfinished. Returns false, and changes nothing, if the list contains it already.
    mutating func insert(_ operation: AnyTaskOperation) -> Bool {
        if list.contains(operation) { return false }
        list.append(operation, Note())
        unfinishedCount += 1
        return true
    }

    /// Removes a dependency.
    ///
    /// - Returns: The dependency, which must be kept until all locks are released, whether it lists the operation as a
    ///   dependent, and the level that it no longer inherits; nil if it is not in the list.
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

    /// Marks a dependency as finished. Does nothing if it is not in the list, or is already marked.
    mutating func markFinished(_ operation: AnyTaskOperation) {
        let isNew = list.update(operation) { note in
            defer { note.isFinished = true }
            return !note.isFinished
        }
        if isNew == true { unfinishedCount -= 1 }
    }

    /// Records that unfinished dependencies inherit a level, or none if it is nil. Linear.
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

    /// Records that one dependency inherits a level, or none if it is nil. Returns the change; nil if there is none.
    mutating func handOn(_ level: PriorityLevel?, to operation: AnyTaskOperation) -> Inheritance.Change? {
        list.update(operation) { $0.handOn(level, to: operation) } ?? nil
    }

    /// Records that unfinished dependencies list the operation as a dependent, and that they inherit a level, or none
    /// if it is nil. Linear.
    ///
    /// - Returns: The dependencies that must be notified.
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

    /// Records that one dependency lists the operation as a dependent. Returns true if this is new: it must be
    /// notified.
    mutating func link(_ operation: AnyTaskOperation) -> Bool {
        list.update(operation) { note in
            defer { note.isLinked = true }
            return !note.isFinished && !note.isLinked
        } ?? false
    }

    /// Records that no dependency lists the operation as a dependent. Returns the unfinished ones that did. Linear.
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
