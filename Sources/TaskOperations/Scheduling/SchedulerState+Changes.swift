// Reports of changes to observers.

extension SchedulerState {
    /// Sets whether changes of operations are reported.
    mutating func setObserved(_ isObserved: Bool) { changes.isObserved = isObserved }

    /// Removes the reported changes.
    mutating func removeChanges() { changes.removeAll() }

    /// Records a change of an operation. Callers first check `isObserved`. Without observers, this check is the only
    /// cost.
    mutating func report(_ kind: ChangeKind, _ element: Element, _ arrival: UInt64, other: Element? = nil) {
        changes.append(kind, element, arrival: arrival, counts, other: other)
        effects.hasChanges = true
    }

    /// Records a change of an operation in the queue. After the operation's end, nothing is recorded, although an
    /// abandoned body may still execute.
    mutating func report(_ kind: ChangeKind, _ slot: Slot, other: Element? = nil) {
        if kind != .finished, finishing.contains(slot) { return }
        report(kind, records[slot].element, number(of: slot), other: other)
    }

    mutating func reportArrival(_ element: Element, isReady: Bool) {
        report(.added, element, arrivals)
        if isReady { report(.ready, element, arrivals) }
    }

    /// The counts of operations after the last change.
    var counts: ChangeCounts { ChangeCounts(added: Int(arrivals - moveCount), unfinished: count) }

    /// The first arrival of an operation.
    func number(of slot: Slot) -> UInt64 { admission.barriers?.value.numbers[slot] ?? records[slot].arrival }

    /// The changes that led to the present state of each unfinished operation, in the order of addition. Every change
    /// has the number of the last change.
    func presentChanges(isCancelled: (Element) -> Bool) -> [ChangeList<Element>.Change] {
        let slots = records.slots.filter { !finishing.contains($0) }.sorted { number(of: $0) < number(of: $1) }
        return slots.flatMap { slot -> [ChangeList<Element>.Change] in
            let record = records[slot]
            var kinds: [ChangeKind] = [.added] + Self.history(of: record.status)
            if isCancelled(record.element) { kinds.append(.cancelled) }
            return kinds.map {
                .init(
                    number: changes.lastNumber, element: record.element, arrival: number(of: slot), kind: $0,
                    counts: counts)
            }
        }
    }

    /// The changes of an operation after its addition.
    private static func history(of status: Status) -> [ChangeKind] {
        switch status {
        case .waiting: []
        case .ready: [.ready]
        case .executing: [.ready, .started]
        case .lent, .returning: [.ready, .started, .lent]
        }
    }
}
