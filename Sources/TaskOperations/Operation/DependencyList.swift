/// What an operation depends on, in the order of adding, and how much of it is unfinished.
///
/// Each call is constant time, amortised: short lists are searched from the front, and long ones have an index.
struct DependencyList: Sendable {
    private struct Entry {
        /// Nil where the dependency was removed.
        var operation: AnyTaskOperation?
        var isFinished = false
    }

    private var entries = Few<Entry>()
    private var index: [ObjectIdentifier: Int]?
    private(set) var unfinishedCount = 0

    var isEmpty: Bool { entries.isEmpty }

    var all: some Sequence<AnyTaskOperation> { entries.lazy.compactMap { $0.operation } }

    var operations: [AnyTaskOperation] { Array(all) }

    /// Dependencies that have not been reported as finished.
    var unfinished: [AnyTaskOperation] { entries.compactMap { $0.isFinished ? nil : $0.operation } }

    func contains(_ operation: AnyTaskOperation) -> Bool { position(of: operation) != nil }

    /// Adds a dependency as unfinished; one that is there already changes nothing and returns false.
    mutating func insert(_ operation: AnyTaskOperation) -> Bool {
        if contains(operation) { return false }
        index?[ObjectIdentifier(operation)] = entries.count
        entries.append(Entry(operation: operation))
        unfinishedCount += 1
        if index == nil, entries.count > Self.searchedCount { makeIndex() }
        return true
    }

    /// Removes a dependency. Returns false where it is not there.
    mutating func remove(_ operation: AnyTaskOperation) -> Bool {
        guard let position = position(of: operation) else { return false }
        if !entries[position].isFinished { unfinishedCount -= 1 }
        if index == nil {
            entries.remove(at: position)
        } else {
            entries[position] = Entry(operation: nil, isFinished: true)
            index?[ObjectIdentifier(operation)] = nil
            if index!.count * 2 < entries.count { closeGaps() }
        }
        return true
    }

    /// Marks a dependency as finished; one that is not there, or is marked, changes nothing.
    mutating func markFinished(_ operation: AnyTaskOperation) {
        guard let position = position(of: operation), !entries[position].isFinished else { return }
        entries[position].isFinished = true
        unfinishedCount -= 1
    }

    private func position(of operation: AnyTaskOperation) -> Int? {
        if let index { return index[ObjectIdentifier(operation)] }
        return entries.firstIndex { $0.operation === operation }
    }

    private mutating func closeGaps() {
        entries = Few(entries.filter { $0.operation != nil })
        index = nil
        if entries.count > Self.searchedCount { makeIndex() }
    }

    private mutating func makeIndex() {
        var index = [ObjectIdentifier: Int](minimumCapacity: entries.count * 2)
        for (position, entry) in entries.enumerated() {
            if let operation = entry.operation { index[ObjectIdentifier(operation)] = position }
        }
        self.index = index
    }

    private static var searchedCount: Int { 8 }
}
