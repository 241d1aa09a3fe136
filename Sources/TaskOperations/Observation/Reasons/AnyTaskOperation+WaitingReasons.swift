extension AnyTaskOperation {
    /// The reasons why the operation does not execute, or the waits of its executing body. Never empty.
    ///
    /// Linear in the number of operations of the queue, which is locked only while they are read.
    public var waitingReasons: [WaitingReason] {
        while true {
            let host = record.withLock { $0.host }
            guard let scheduler = host as? Scheduler else {
                if let reasons = OperationDetail(self).reasonsWithoutQueue { return reasons }
                continue
            }
            let (queue, slot) = QueueCapture.capture(scheduler, for: self)
            if let slot {
                return queue.reasons(of: slot, queue.state.reasons(of: slot), holders: queue.holders)
            }
            if isFinished { return [.finished] }
            if queue.waitsForRoom(self) { return [.room(queue.queue)] }
            // It is on its way into the queue, or out of it.
            if record.withLock({ $0.host === host }) { return [.executor] }
        }
    }

    /// The reasons why the operation does not execute, or the waits of its body, as a sentence.
    public var waitingExplanation: String {
        "\(OperationLabel(self)) \(waitingReasons.map { "\($0)" }.joined(separator: ", and "))."
    }
}

extension OperationDetail {
    /// The reasons of an operation that is on no queue; nil if it is on one.
    fileprivate var reasonsWithoutQueue: [WaitingReason]? {
        switch phase {
        case .finished: [.finished]
        case .created: isOutside ? [.outside] : [.notAdded]
        case .submitted, .executing: nil
        }
    }
}
