// Why operations do not start, or do not go on. Nothing in here changes anything.

extension SchedulerState {
    /// Something that keeps an operation from starting, or from going on.
    enum Reason: Hashable, Sendable {
        /// A dependency is unfinished, or a deadline has not passed: the operation knows which.
        case dependencies
        /// It stands behind this barrier.
        case barrier(Slot)
        /// It is a barrier, and so many stand between the barrier before and it.
        case operationsBefore(Int)
        /// The queue is suspended.
        case suspended
        /// Everything is being cancelled just now.
        case held
        /// So many that are ready are served before it.
        case turn(Int)
        /// What is served next, which may be this one, lacks permits.
        case permits
        /// What is served next, which may be this one, is about to be: a worker is to come for it.
        case worker
    }

    /// The reasons of one operation; none if it executes, or awaits something itself. Linear.
    func reasons(of slot: Slot) -> [Reason] {
        let record = records[slot]
        let barrier = barriers.last(before: record.arrival)?.slot
        var between = 0
        if record.isBarrier {
            let first = barrier.map { records[$0].arrival } ?? 0
            between = records.slots.count { isUnfinished($0, after: first, before: record.arrival) }
        }
        let ahead = records.slots.count { isServed($0, before: slot) }
        return reasons(record, behind: barrier, between: between, ahead: ahead)
    }

    /// The operations that have not ended, in the order of arrival, and what keeps each. Sorts.
    var allReasons: [(slot: Slot, reasons: [Reason])] {
        let slots = records.slots.sorted { records[$0].arrival < records[$1].arrival }
        let ahead = placesInLine(slots)
        var (barrier, between) = (nil as Slot?, 0)
        var all: [(slot: Slot, reasons: [Reason])] = []
        all.reserveCapacity(slots.count)
        for slot in slots where !ending.contains(slot) {
            let record = records[slot]
            all.append((slot, reasons(record, behind: barrier, between: between, ahead: ahead[slot] ?? 0)))
            if record.isBarrier { (barrier, between) = (slot, 0) } else { between += 1 }
        }
        return all
    }

    /// Those that have taken permits, those included whose completion handlers are being called, in the order of arrival.
    var permitHolders: [Slot] {
        records.slots.filter { records[$0].status == .executing }.sorted { records[$0].arrival < records[$1].arrival }
    }

    private func reasons(_ record: Record, behind barrier: Slot?, between: Int, ahead: Int) -> [Reason] {
        switch record.status {
        case .executing, .lent: return []
        case .returning: return [ahead > 0 ? .turn(ahead) : nil, .permits].compactMap(\.self)
        case .waiting, .ready: break
        }
        var reasons: [Reason] = record.status == .waiting ? [.dependencies] : []
        if let barrier { reasons.append(.barrier(barrier)) }
        if record.isBarrier, between > 0 { reasons.append(.operationsBefore(between)) }
        let mayStart = reasons.isEmpty
        if isSuspended { reasons.append(.suspended) }
        if holdCount > 0 { reasons.append(.held) }
        if !mayStart { return reasons }
        if ahead > 0 { reasons.append(.turn(ahead)) }
        if !returning.isEmpty || !hasPermitsForFirst {
            reasons.append(.permits)
        } else if !isHalted {
            reasons.append(.worker)
        }
        return reasons
    }

    private var hasPermitsForFirst: Bool {
        guard permits.available > 0, let first = ready.first else { return false }
        return permits.admits(records[first.entry.slot].weight)
    }

    private func isUnfinished(_ slot: Slot, after first: UInt64, before last: UInt64) -> Bool {
        let arrival = records[slot].arrival
        return arrival > first && arrival < last && !ending.contains(slot)
    }

    // MARK: Places in line

    /// Whether one operation is served before another that stands in the same line.
    private func isServed(_ slot: Slot, before other: Slot) -> Bool {
        slot != other && isInLine(slot, records[other].status) && isInLine(other, records[other].status)
            && place(slot) < place(other)
    }

    /// How many are served before each operation that is ready, or wants its permits back.
    private func placesInLine(_ slots: [Slot]) -> [Slot: Int] {
        var places: [Slot: Int] = [:]
        for status in [Status.ready, .returning] {
            let line = slots.filter { isInLine($0, status) }.map { ($0, place($0)) }.sorted { $0.1 < $1.1 }
            for (number, (slot, _)) in line.enumerated() { places[slot] = number }
        }
        return places
    }

    private func isInLine(_ slot: Slot, _ status: Status) -> Bool {
        let record = records[slot]
        switch status {
        case .ready: return record.status == .ready && barriers.admits(record.arrival)
        case .returning: return record.status == .returning
        case .waiting, .executing, .lent: return false
        }
    }

    /// What is served in ascending order: higher levels first.
    private func place(_ slot: Slot) -> (UInt8, UInt64) {
        let record = records[slot]
        let order = record.status == .ready ? self.order : .firstInFirstOut
        return (.max - record.level.rawValue, order.rank(ofArrival: record.arrival))
    }
}
