public import TaskOperations

extension AnyTaskOperation {
    /// The reasons why the operation does not execute. If the body is executing, the waits of the body. The array is
    /// never empty.
    ///
    /// The call takes linear time in the number of operations of the queue. The queue is locked only while the
    /// operations are read. A snapshot of the queue finds the reasons of all its operations together in about linear
    /// time.
    public var waitingReasons: [WaitingReason] {
        while true {
            let detail = OperationDetail(self)
            guard let scheduler = detail.scheduler else { return [detail.reasonWithoutQueue] }
            let (queue, slots) = QueueCapture.capture(scheduler, for: [self])
            if let slot = slots[0] {
                return queue.waitingReasons(of: slot, queue.reasons(of: slot), holders: queue.permitHolders)
            }
            if isFinished { return [.finished] }
            if queue.operationsWaitingForRoom.contains(where: { $0 === self }) { return [.room(queue.label)] }
            // The operation is being added to the queue or removed from it.
            if OperationDetail(self).scheduler === scheduler { return [.executor] }
        }
    }

    /// A sentence with the reasons why the operation does not execute, or with the waits of its body.
    public var waitingExplanation: String {
        "\(OperationLabel(self)) \(waitingReasons.map { "\($0)" }.joined(separator: ", and "))."
    }
}

extension OperationDetail {
    /// The reason for the wait of an operation that has no scheduler.
    fileprivate var reasonWithoutQueue: WaitingReason {
        if state == .finished { return .finished }
        return isOutside ? .outside : .notAdded
    }

    /// The label of the queue; nil if the operation has no queue or was started without a queue.
    var queueLabel: QueueLabel? { scheduler.flatMap { $0.isWithoutQueue ? nil : QueueLabel($0) } }
}

// MARK: - Translation

extension QueueCapture {
    /// The operations that have permits, in the order of arrival.
    var permitHolders: [PermitHolder] {
        holders.map { PermitHolder(operation: OperationLabel($0.operation), weight: $0.weight, since: $0.startTime) }
    }

    /// Returns the reasons why an operation does not execute, or the waits of its body.
    ///
    /// - Parameters:
    ///   - slot: The slot of the operation.
    ///   - reasons: The reasons that the queue knows.
    ///   - holders: The operations that hold permits.
    func waitingReasons(of slot: Int, _ reasons: [QueueReason], holders: [PermitHolder]) -> [WaitingReason] {
        guard let detail = details[slot] else { return [] }
        let operation = operation(at: slot)
        switch operation.status {
        case .executing, .lent:
            let waits = detail.bodyWaits.map {
                WaitingReason.body(
                    BodyWait(target: .init($0.target), since: $0.since, isPermitLent: detail.isPermitLent))
            }
            return waits.isEmpty ? [.execution(since: operation.startTime)] : waits
        case .waiting, .ready, .returning:
            return reasons.flatMap { translate($0, detail, holders) }
        }
    }

    private func translate(
        _ reason: QueueReason, _ detail: OperationDetail, _ holders: [PermitHolder]
    ) -> [WaitingReason] {
        switch reason {
        case .dependencies: dependencyReasons(detail)
        case .barrier(let barrier): [.barrier(OperationLabel(operation(at: barrier).operation))]
        case .operationsBefore(let count): [.operationsBefore(count: count)]
        case .suspended: [.suspended(suspendedQueue)]
        case .held: [.cancellation]
        case .turn(let count): [.turn(ahead: count)]
        case .permits(let weight): [.permits(weight: weight, width: width.capacity, holders: holders)]
        case .level(let limit): [.priorityLimit(limit)]
        case .limits: detail.limitDescriptions.map { .limit($0) }
        case .rate(let time): [.rate(next: time)]
        case .worker: [.executor]
        }
    }

    private func dependencyReasons(_ detail: OperationDetail) -> [WaitingReason] {
        let dependencies = detail.dependencies.map {
            WaitingReason.dependency(OperationLabel($0), queue: OperationDetail($0).queueLabel)
        }
        let all = dependencies + (detail.isDelayed ? [.delay] : [])
        // If there are no reasons, they have just ended, and the queue was not notified yet.
        return all.isEmpty ? [.executor] : all
    }
}

extension BodyWait.Target {
    fileprivate init(_ target: AwaitedTarget) {
        switch target {
        case .operation(let operation):
            let detail = OperationDetail(operation)
            let isNameless = operation.name == nil && detail.isOutside
            self = isNameless ? .outside : .operation(OperationLabel(operation), queue: detail.queueLabel)
        case .end(let scheduler): self = .endOfQueue(QueueLabel(scheduler))
        case .room(let scheduler): self = .room(QueueLabel(scheduler))
        case .object(.semaphore, let text): self = .semaphore(text)
        case .object(.completionHandler, let text): self = .completionHandler(text)
        case .object(.group, let text): self = .group(text)
        case .pause(let attempt, let length): self = .pause(beforeAttempt: attempt, length: length)
        case .outside: self = .outside
        }
    }
}
