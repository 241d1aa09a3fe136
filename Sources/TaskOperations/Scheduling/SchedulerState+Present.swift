// How everything stands, as the changes that have led there.

extension SchedulerState {
    /// How each operation that has not ended came to stand where it does, in the order of arrival; each with the number of
    /// the last change.
    func presentChanges(isCancelled: (Element) -> Bool) -> [Change] {
        let slots = records.slots.filter { !ending.contains($0) }.sorted { records[$0].arrival < records[$1].arrival }
        return slots.flatMap { slot -> [Change] in
            let record = records[slot]
            var kinds: [Change.Kind] = [.added] + Self.history(of: record.status)
            if isCancelled(record.element) { kinds.append(.cancelled) }
            return kinds.map {
                Change(
                    number: changeCount, element: record.element, arrival: record.arrival, kind: $0, counts: counts)
            }
        }
    }

    /// What was told of an operation after it was added.
    private static func history(of status: Status) -> [Change.Kind] {
        switch status {
        case .waiting: []
        case .ready: [.ready]
        case .executing: [.ready, .started]
        case .lent, .returning: [.ready, .started, .lent]
        }
    }
}
