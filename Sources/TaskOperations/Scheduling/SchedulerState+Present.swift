// The present state, as the changes that have led to it.

extension SchedulerState {
    /// How each operation that has not ended came to stand where it does, in the order of arrival; each with the number of
    /// the last change.
    func presentChanges(isCancelled: (Element) -> Bool) -> [ChangeList<Element>.Change] {
        let slots = records.slots.filter { !ending.contains($0) }.sorted { records[$0].arrival < records[$1].arrival }
        return slots.flatMap { slot -> [ChangeList<Element>.Change] in
            let record = records[slot]
            var kinds: [ChangeKind] = [.added] + Self.history(of: record.status)
            if isCancelled(record.element) { kinds.append(.cancelled) }
            return kinds.map {
                .init(
                    number: changes.lastNumber, element: record.element, arrival: record.arrival, kind: $0,
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

    var counts: ChangeCounts { ChangeCounts(added: Int(arrivals), unfinished: count) }
}
