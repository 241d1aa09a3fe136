/// A queue at one moment, with the details of its operations.
struct QueueCapture: Sendable {
    let scheduler: Scheduler
    let state: Scheduler.State
    private let startTimes: [UInt64: Moment]
    /// By slots: of all operations, or of those that were asked for.
    private(set) var details: [Int: OperationDetail] = [:]
    let queue: QueueLabel

    private init(_ capture: Scheduler.Capture) {
        scheduler = capture.scheduler
        state = capture.state
        startTimes = capture.startTimes
        queue = QueueLabel(capture.scheduler)
    }

    /// Captures queues at one moment, and everything in them.
    static func capture(_ schedulers: some Sequence<Scheduler>) -> [QueueCapture] {
        Scheduler.capture(schedulers) { captures in
            captures.map { capture in
                var queue = QueueCapture(capture)
                for slot in queue.state.records.slots { queue.addDetail(of: slot) }
                return queue
            }
        }
    }

    /// Captures a queue, and of its operations only one.
    ///
    /// - Returns: Also the operation's slot; nil if it is not in the queue any more.
    static func capture(_ scheduler: Scheduler, for operation: AnyTaskOperation) -> (QueueCapture, slot: Int?) {
        Scheduler.capture(CollectionOfOne(scheduler)) { captures in
            var queue = QueueCapture(captures[0])
            let slot = operation.snapshot.slot
            let isHere =
                slot >= 0 && queue.state.records.holds(slot) && queue.state.records[slot].element === operation
                && !queue.state.ending.contains(slot)
            if isHere { queue.addDetail(of: slot) }
            return (queue, isHere ? slot : nil)
        }
    }

    private mutating func addDetail(of slot: Int) {
        details[slot] = OperationDetail(state.records[slot].element)
    }

    /// Whether an operation is to be added once there is room. Linear in the number of such operations.
    func waitsForRoom(_ operation: AnyTaskOperation) -> Bool {
        state.room.producers.contains { $0.element === operation }
    }

    /// Those that have permits, in the order of arrival.
    var holders: [PermitHolder] {
        state.permitHolders.map { slot in
            let record = state.records[slot]
            return PermitHolder(
                operation: OperationLabel(record.element), weight: record.weight, since: startTime(of: slot))
        }
    }

    private func startTime(of slot: Int) -> ContinuousClock.Instant? {
        startTimes[state.records[slot].arrival]?.instant
    }

    /// Returns the reasons why an operation does not execute, or the waits of its body.
    ///
    /// - Parameters:
    ///   - reasons: The reasons of the state.
    ///   - holders: The operations that hold permits.
    func reasons(of slot: Int, _ reasons: [Scheduler.State.Reason], holders: [PermitHolder]) -> [WaitingReason] {
        guard let detail = details[slot] else { return [] }
        switch state.records[slot].status {
        case .executing, .lent:
            let waits = detail.bodyWaits.map(WaitingReason.body)
            return waits.isEmpty ? [.execution(since: startTime(of: slot))] : waits
        case .waiting, .ready, .returning:
            return reasons.flatMap { translate($0, slot, detail, holders) }
        }
    }

    private func translate(
        _ reason: Scheduler.State.Reason, _ slot: Int, _ detail: OperationDetail, _ holders: [PermitHolder]
    ) -> [WaitingReason] {
        switch reason {
        case .dependencies: dependencyReasons(detail)
        case .barrier(let barrier): [.barrier(OperationLabel(state.records[barrier].element))]
        case .operationsBefore(let count): [.operationsBefore(count: count)]
        case .suspended: [.suspended(queue)]
        case .held: [.cancellation]
        case .turn(let count): [.turn(ahead: count)]
        case .permits: [.permits(width: state.permits.capacity, holders: holders)]
        case .level:
            [.priorityLimit(state.lending.caps?[state.records[slot].level].capacity ?? state.permits.capacity)]
        case .limits: detail.limitReasons
        case .rate: [.rate(next: state.pace.rate.map { max(.zero, $0.nextStart - state.pace.time.now) } ?? .zero)]
        case .worker: [.executor]
        }
    }

    private func dependencyReasons(_ detail: OperationDetail) -> [WaitingReason] {
        let dependencies = detail.dependencies.map {
            WaitingReason.dependency(OperationLabel($0), queue: $0.queueLabel)
        }
        let all = dependencies + (detail.isDelayed ? [.delay] : [])
        // They have all ended just now, and the queue is about to learn of it.
        return all.isEmpty ? [.executor] : all
    }
}
