/// The changes of the operations of a queue since the list was last emptied, in order. Empty if there is no listener.
struct ChangeList<Element: Sendable>: Sendable {
    /// One change of one operation. Changes are numbered from 1 without gaps.
    struct Change: Sendable {
        let number: UInt64
        let element: Element
        /// The number of the operation: the first that was added has 1.
        let arrival: UInt64
        let kind: ChangeKind
        let counts: ChangeCounts
        /// The other operation that the change is about, if there is one.
        var other: Element?
    }

    /// Whether changes are told.
    var isObserved = false
    /// The number of the last change.
    private(set) var lastNumber: UInt64 = 0
    private(set) var changes: [Change] = []

    var isEmpty: Bool { changes.isEmpty }

    mutating func append(
        _ kind: ChangeKind, _ element: Element, arrival: UInt64, _ counts: ChangeCounts, other: Element? = nil
    ) {
        lastNumber += 1
        changes.append(
            Change(number: lastNumber, element: element, arrival: arrival, kind: kind, counts: counts, other: other))
    }

    /// Empties the list. It keeps its memory, unless there was a burst.
    mutating func removeAll() { changes.removeAll(keepingCapacity: changes.count <= 64) }
}

/// How many operations were ever added, and how many of them have not ended, after a change.
package struct ChangeCounts: Hashable, Sendable {
    package let added: Int
    package let unfinished: Int
}

/// A change of an operation. It is not nested, because the runtime looks up a type within a generic one at each use.
package enum ChangeKind: Hashable, Sendable {
    case added
    /// Its dependencies are finished.
    case ready
    case started
    /// It has lent its permit out.
    case lent
    /// It continues after it had lent its permit.
    case returned
    /// It was cancelled; it ends at once if it has not started.
    case cancelled
    /// It has another level.
    case levelChanged(PriorityLevel)
    /// Its body runs again, for the so many-th time.
    case attempt(Int)
    /// Its body has awaited another operation.
    case waited
    case finished
}
