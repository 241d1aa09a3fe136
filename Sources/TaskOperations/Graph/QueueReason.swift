// The reasons why operations do not start, or do not continue. This file only reads the state.

/// A reason why an operation of a queue does not start, or does not continue.
package enum QueueReason: Hashable, Sendable {
    /// A dependency is unfinished, or the operation's delay has not passed. Only the operation knows which of the two
    /// is true.
    case dependencies
    /// The operation is behind the barrier at this slot.
    case barrier(Int)
    /// The operation is a barrier. This number of unfinished operations is between the previous barrier and this
    /// barrier.
    case operationsBefore(Int)
    /// The queue is suspended.
    case suspended
    /// All operations are currently being cancelled.
    case held
    /// This number of operations precedes the operation.
    case turn(Int)
    /// The operation that the queue serves next needs this number of permits, and too few are free. It may be this
    /// operation.
    case permits(Int)
    /// Operations of the same level may take only this number of permits, which is too few for the first operation of the
    /// level.
    case level(Int)
    /// A semaphore that limits the operation has no permit for it.
    case limits
    /// The rate of the queue prevents every start for this time.
    case rate(Duration)
    /// A worker was requested for the operation that starts next. It may be this operation.
    case worker
}

extension SchedulerState {
    /// The reasons of one operation; empty if the operation is executing or has lent its permits. Takes linear time in
    /// the number of operations.
    func reasons(of slot: Slot) -> [QueueReason] {
        let row = rows[slot]
        let isOutsideLine = isOutsideLine(slot)
        let barrier = isOutsideLine ? nil : selection.optionalBarriers?.value.line.last(before: row.arrival)?.slot
        var between = 0
        if row.isBarrier, !isOutsideLine {
            let first = barrier.map { rows[$0].arrival } ?? 0
            between = rows.slots.count {
                rows[$0].arrival > first && rows[$0].arrival < row.arrival && !self.isOutsideLine($0)
            }
        }
        let line = Line(self)
        let ahead = countAhead(of: slot, line)
        return reasons(slot, line, behind: barrier, between: between, ahead: ahead)
    }

    /// The operations that have not ended, with their reasons, in the order of arrival. Sorts the operations.
    var allReasons: [(slot: Slot, reasons: [QueueReason])] {
        let slots = rows.slots.sorted { rows[$0].arrival < rows[$1].arrival }
        let line = Line(self)
        let ahead = placesInLine(slots, line)
        var (barrier, between) = (nil as Slot?, 0)
        var all: [(slot: Slot, reasons: [QueueReason])] = []
        all.reserveCapacity(slots.count)
        for slot in slots {
            let isOutsideLine = isOutsideLine(slot)
            // An ended operation holds back other operations until its handlers have been called.
            if !finishing.contains(slot) {
                let (barrier, between) = isOutsideLine ? (nil, 0) : (barrier, between)
                all.append((slot, reasons(slot, line, behind: barrier, between: between, ahead: ahead[slot] ?? 0)))
            }
            if isOutsideLine { continue }
            if rows[slot].isBarrier { (barrier, between) = (slot, 0) } else { between += 1 }
        }
        return all
    }

    /// The operations that hold permits, in the order of arrival. An operation whose completion handlers are being
    /// called still holds its permits.
    var permitHolders: [Slot] {
        rows.slots.filter { rows[$0].status == .executing }.sorted { rows[$0].arrival < rows[$1].arrival }
    }

    private func reasons(_ slot: Slot, _ line: Line, behind barrier: Slot?, between: Int, ahead: Int) -> [QueueReason] {
        let row = rows[slot]
        switch row.status {
        case .executing, .lent: return []
        case .returning:
            let isFull =
                permits.isFull(row.level)
                || ahead == 0 && !(permits.caps?[row.level].fitsBack(row.weight) ?? true)
            let weight = ahead == 0 ? row.weight : line.returningWeight ?? row.weight
            return [ahead > 0 ? .turn(ahead) : nil, isFull ? levelReason(row.level) : nil, .permits(weight)]
                .compactMap(\.self)
        case .waiting, .ready: break
        }
        var reasons: [QueueReason] = row.status == .waiting ? [.dependencies] : []
        if let barrier { reasons.append(.barrier(barrier)) }
        if row.isBarrier, between > 0 { reasons.append(.operationsBefore(between)) }
        let mayStart = reasons.isEmpty
        if isSuspended { reasons.append(.suspended) }
        if startBlockers > 0 { reasons.append(.held) }
        if !mayStart { return reasons }
        if ahead > 0 { reasons.append(.turn(ahead)) }
        var isOpen = true
        if line.closedLevels.contains(row.level) || !permits.isOpen(row.level, for: row.weight) {
            reasons.append(levelReason(row.level))
            isOpen = false
        }
        if isParked(slot) {
            reasons.append(.limits)
            isOpen = false
        }
        let weight = ahead == 0 ? row.weight : line.firstWeight
        if permits.isAwaitedBack {
            reasons.append(.permits(line.returningWeight ?? weight))
        } else if !width.admits(weight) {
            reasons.append(.permits(weight))
        } else if isRateReached {
            reasons.append(.rate(pace.tokens.map { max(.zero, $0.nextStart - pace.time.now) } ?? .zero))
        } else if !isHalted, isOpen {
            reasons.append(.worker)
        }
        return reasons
    }

    private func levelReason(_ level: PriorityLevel) -> QueueReason {
        .level(permits.caps?[level].capacity ?? width.capacity)
    }

    private func isParked(_ slot: Slot) -> Bool {
        limited?.isParked(slot) ?? false
    }

    // MARK: Places in line

    /// The values that all ready operations share.
    private struct Line {
        /// The levels whose first operation does not fit. Operations of these levels are skipped.
        var closedLevels: Set<PriorityLevel> = []
        /// The weight of the next operation.
        var firstWeight = 1
        /// The weight of the operation that takes its permits back next; nil if no operation can.
        var returningWeight: Int?
        /// The places of the operations whose limits are held, among those of their levels. Such an operation starts in
        /// the order of service, and after the operations without limits that precede it.
        var heldPlaces: [Slot: (rank: UInt64, service: UInt64)] = [:]

        init(_ state: SchedulerState) {
            var isKnown = false
            var ranks = PerLevel<UInt64>(0)
            for holder in state.limited?.holders ?? [] {
                ranks[holder.level] = max(ranks[holder.level], state.order.rank(ofArrival: holder.entry.arrival))
                heldPlaces[holder.entry.slot] = (ranks[holder.level], holder.service)
            }
            for (slot, level, _) in state.firstOfLevels {
                let weight = state.rows[slot].weight
                if !state.permits.isOpen(level, for: weight) {
                    closedLevels.insert(level)
                } else if !isKnown {
                    (firstWeight, isKnown) = (weight, true)
                }
            }
            if !state.permits.hasReturns { return }
            let returning = state.rows.slots.filter {
                state.rows[$0].status == .returning && !state.permits.isFull(state.rows[$0].level)
            }
            let next = returning.min { state.place($0, self) < state.place($1, self) }
            returningWeight = next.map { state.rows[$0].weight }
        }
    }

    /// The number of operations that start, or take their permits back, before an operation. Takes linear time.
    private func countAhead(of slot: Slot, _ line: Line) -> Int {
        let status = rows[slot].status
        if !isInLine(slot, status) { return 0 }
        let (crowds, place) = (crowds(before: slot), place(slot, line))
        return rows.slots.count {
            $0 != slot && isInLine($0, status) && self.place($0, line) < place && crowds.contains(crowd(of: $0, line))
        }
    }

    /// A group of operations that are skipped together when another operation can start.
    private struct Crowd: Hashable {
        /// The set of limits for which the operations wait; nil if they do not wait for limits.
        var set: Int?
        /// The level of the operations; nil if the level is not at its limit.
        var level: PriorityLevel?
    }

    private func crowd(of slot: Slot, _ line: Line) -> Crowd {
        if !selection.hasPolicies { return Crowd() }
        let level = rows[slot].level
        if rows[slot].status == .returning { return Crowd(level: permits.isFull(level) ? level : nil) }
        let set = isParked(slot) ? limited?.set(of: slot) : nil
        return Crowd(set: set, level: line.closedLevels.contains(level) ? level : nil)
    }

    /// The crowds that an operation cannot overtake.
    private func crowds(before slot: Slot) -> [Crowd] {
        if !selection.hasPolicies { return [Crowd()] }
        let level = rows[slot].level
        let ofLevel = [Crowd(), Crowd(level: level)]
        guard let set = limited?.set(of: slot) else { return ofLevel }
        return ofLevel + [Crowd(set: set), Crowd(set: set, level: level)]
    }

    /// The number of operations ahead of each operation that is ready or waits to take its permits back.
    private func placesInLine(_ slots: [Slot], _ line: Line) -> [Slot: Int] {
        var places: [Slot: Int] = [:]
        for status in [Status.ready, .returning] {
            let inLine = slots.filter { isInLine($0, status) }.map { ($0, place($0, line)) }.sorted { $0.1 < $1.1 }
            var counts: [Crowd: Int] = [:]
            for (slot, _) in inLine {
                places[slot] = crowds(before: slot).reduce(0) { $0 + (counts[$1] ?? 0) }
                counts[crowd(of: slot, line), default: 0] += 1
            }
        }
        return places
    }

    private func isInLine(_ slot: Slot, _ status: Status) -> Bool {
        let row = rows[slot]
        switch status {
        case .ready:
            return row.status == .ready && (selection.optionalBarriers?.value.line.admits(row.arrival) ?? true)
        case .returning: return row.status == .returning
        case .waiting, .executing, .lent: return false
        }
    }

    /// The key of an operation in the order of starts. Lower keys start first.
    private func place(_ slot: Slot, _ line: Line) -> (UInt8, UInt64, UInt64) {
        let row = rows[slot]
        if row.status != .ready { return (.max - row.level.rawValue, row.arrival, 0) }
        let place = line.heldPlaces[slot] ?? (order.rank(ofArrival: row.arrival), 0)
        return (.max - row.level.rawValue, place.rank, place.service)
    }
}
