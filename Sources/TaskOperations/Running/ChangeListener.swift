/// Receives the changes of a queue's operations, in order.
package protocol ChangeListener: AnyObject, Sendable {
    /// Tells listeners apart.
    var identity: ObjectIdentifier { get }

    /// Changes have happened. Called with no lock held, and never by two threads at once for one queue.
    func receive(_ changes: ArraySlice<LoggedChange>)

    /// The queue is gone: nothing follows.
    func queueWasReleased()
}

/// A change, and the properties of the operation that cannot be read later. It has no generic types, because the runtime
/// looks these up at each use.
package struct LoggedChange: Sendable {
    package enum Detail: Sendable {
        case none
        /// It has started, and had these dependencies.
        case dependencies([AnyTaskOperation])
        /// Its body has awaited this operation.
        case awaited(AnyTaskOperation)
        /// The operation has finished; nil is success without a value.
        case outcome(Outcome?)
        /// It was taken back before it started, as it would have closed a cycle.
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
    /// Whether the operation has ended.
    package var isEnd: Bool { if case .finished = kind { true } else { false } }
}

extension LoggedChange {
    /// Reads the operation of a change that has just happened, before the operation continues.
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
