/// Receives the changes of a queue's operations, in order.
package protocol ChangeListener: AnyObject, Sendable {
    /// The identity of the listener, which distinguishes it from other listeners.
    var identity: ObjectIdentifier { get }

    /// Receives new changes. Called with no lock held, and never by two threads at the same time for one queue.
    func receive(_ changes: ArraySlice<LoggedChange>)

    /// Called when the queue was released. No further call follows.
    func queueWasReleased()
}

/// A change, and the properties of the operation that cannot be read later. The type is not generic, because the
/// runtime looks up generic types at each use.
package struct LoggedChange: Sendable {
    package enum Detail: Sendable {
        case none
        /// The operation has started. The value contains its dependencies.
        case dependencies([AnyTaskOperation])
        /// The body has awaited this operation.
        case awaited(AnyTaskOperation)
        /// The operation has finished; nil is success without a value.
        case outcome(Outcome?)
        /// The operation was removed from the queue before its start, because it would have closed a cycle.
        case withdrawn
    }

    package let number: UInt64
    package let operation: AnyTaskOperation
    package let arrival: UInt64
    package let kind: ChangeKind
    package let counts: ChangeCounts
    package let moment: Moment
    package var detail = Detail.none
    /// Whether the change happened before the listener was added.
    package var isReplayed = false
    /// Whether the change is the end of the operation.
    package var isEnd: Bool { if case .finished = kind { true } else { false } }
}

extension LoggedChange {
    /// Reads the operation of a change that has just happened. Called before the operation continues.
    @inline(__always)
    init(_ change: ChangeList<AnyTaskOperation>.Change, at moment: Moment) {
        number = change.number
        operation = change.element
        arrival = change.arrival
        kind = change.kind
        counts = change.counts
        self.moment = moment
        switch change.kind {
        case .started:
            let dependencies = change.element.dependencies
            if !dependencies.isEmpty { detail = .dependencies(dependencies) }
        case .waited: detail = .awaited(change.other!)
        case .finished:
            detail = change.element.record.withLock { $0.phase == .finished ? .outcome($0.outcome) : .withdrawn }
        default: break
        }
    }
}
