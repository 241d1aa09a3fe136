/// What an operation depends on, in the order of adding, and how much of it is unfinished.
///
/// Each call is constant time, amortised, unless it says otherwise.
struct DependencyList: Sendable {
    private struct Note: Sendable {
        var isFinished = false
        /// The level that the dependency inherits from the operation; nil until both are linked.
        var handedOn: PriorityLevel?
    }

    private var list = OperationList<Note>()
    private(set) var unfinishedCount = 0

    var isEmpty: Bool { list.isEmpty }

    var operations: [AnyTaskOperation] { list.operations }

    /// Dependencies that have not been reported as finished. Linear.
    var unfinished: [AnyTaskOperation] { list.compactMap { $1.isFinished ? nil : $0 } }

    /// Whether all dependencies satisfy a condition that have not been reported as finished. Linear.
    func allUnfinished(_ predicate: (AnyTaskOperation) -> Bool) -> Bool {
        list.allSatisfy { $1.isFinished || predicate($0) }
    }

    /// Adds a dependency as unfinished; one that is there already changes nothing and returns false.
    mutating func insert(_ operation: AnyTaskOperation) -> Bool {
        if list.contains(operation) { return false }
        list.append(operation, Note())
        unfinishedCount += 1
        return true
    }

    /// Removes a dependency.
    ///
    /// - Returns: The dependency, which must be kept until all locks are left, and the level that it inherits; nil if it
    ///   is not in the list.
    mutating func remove(
        _ operation: AnyTaskOperation
    ) -> (operation: AnyTaskOperation, inherits: PriorityLevel?)? {
        guard let (removed, note) = list.remove(operation) else { return nil }
        if !note.isFinished { unfinishedCount -= 1 }
        return (removed, note.isFinished ? nil : note.handedOn)
    }

    /// Marks a dependency as finished; one that is not there, or is marked, changes nothing.
    mutating func markFinished(_ operation: AnyTaskOperation) {
        let isNew = list.update(operation) { note in
            defer { note.isFinished = true }
            return !note.isFinished
        }
        if isNew == true { unfinishedCount -= 1 }
    }

    /// Notes that unfinished dependencies inherit a level, or none. Linear.
    ///
    /// - Parameter linked: Whether only those change that inherit a level already.
    /// - Returns: The changes.
    mutating func handOn(_ level: PriorityLevel?, linked: Bool) -> [Inheritance.Change] {
        if unfinishedCount == 0 { return [] }
        var changes: [Inheritance.Change] = []
        list.update { operation, note in
            if note.isFinished || note.handedOn == level || linked && note.handedOn == nil { return }
            changes.append(.init(target: .operation(operation), from: note.handedOn, to: level))
            note.handedOn = level
        }
        return changes
    }
}
