/// The changes of a queue's operations since the list was last emptied, in order. Empty if the queue has no observer.
struct ChangeList<Element: Sendable>: Sendable {
    /// One change of one operation. Changes are numbered from 1 without gaps.
    struct Change: Sendable {
        let number: UInt64
        let element: Element
        /// The number of the operation. The first operation of the queue has the number 1.
        let arrival: UInt64
        let kind: ChangeKind
        let counts: ChangeCounts
        /// The second operation of the change; nil if the change concerns one operation.
        var other: Element?
    }

    /// Whether changes are recorded.
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

    /// Empties the list. The list keeps its memory unless it had more than 64 changes.
    mutating func removeAll() { changes.removeAll(keepingCapacity: changes.count <= 64) }
}

/// The number of operations that were added until a change, and the number of those that had not ended after it.
package struct ChangeCounts: Hashable, Sendable {
    package let added: Int
    package let unfinished: Int
}

/// The kind of a change of an operation; `TaskOperationEvent.Kind` without the second operation. The type is not nested, because the runtime looks up a type within a generic
/// type at each use.
package enum ChangeKind: Hashable, Sendable {
    case added
    /// The operation's dependencies are finished.
    case ready
    case started
    /// The operation has lent its permit.
    case lent
    /// The operation continues after it had lent its permit.
    case returned
    /// The operation was cancelled. If it has not started, it ends at once.
    case cancelled
    /// The operation's level has changed.
    case levelChanged(PriorityLevel)
    /// The body runs again. The value is the number of the attempt.
    case attempt(Int)
    /// The body has awaited another operation.
    case waited
    case finished
}
