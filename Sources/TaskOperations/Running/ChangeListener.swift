/// Learns of the changes of a queue's operations, in order.
protocol ChangeListener: AnyObject, Sendable {
    /// Tells listeners apart.
    var identity: ObjectIdentifier { get }

    /// Changes have happened. Called with no lock held, and never by two threads at once for one queue.
    func receive(_ changes: ArraySlice<LoggedChange>)

    /// The queue is gone: nothing follows.
    func queueWasReleased()
}

/// A change, and what of the operation cannot be asked later. Without generic types, which are looked up at each use.
struct LoggedChange: Sendable {
    enum Detail: Sendable {
        case none
        /// It has started, and had these dependencies.
        case dependencies([AnyTaskOperation])
        /// Its body has awaited this operation.
        case awaited(AnyTaskOperation)
        /// It has finished; nil stands for success without a value.
        case outcome(Outcome?)
        /// It was taken back before it started, as it would have closed a cycle.
        case withdrawn
    }

    let number: UInt64
    let operation: AnyTaskOperation
    let arrival: UInt64
    let kind: ChangeKind
    let counts: ChangeCounts
    let moment: Moment
    var detail = Detail.none
    /// Whether it happened before the listener came.
    var isReplayed = false
}

extension LoggedChange {
    /// Looks at the operation of a change that has just happened, before it goes on.
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
