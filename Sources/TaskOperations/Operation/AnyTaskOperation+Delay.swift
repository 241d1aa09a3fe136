// An operation with a delay is pending until its deadline has passed, beside whatever else it waits for.

extension AnyTaskOperation: DeadlineTarget {
    var deadlinePlace: DeadlinePlace? {
        get {
            record.withLock { record in
                record.isDelayed ? DeadlinePlace(clock: record.deadlineClock, position: record.deadlinePosition) : nil
            }
        }
        set {
            record.withLock { record in
                record.deadlineClock = newValue?.clock ?? OperationRecord.noClock
                record.deadlinePosition = newValue?.position ?? 0
            }
        }
    }

    func deadlinePassed() {
        let host = record.withLock { $0.isReady ? $0.settledHost : nil }
        host?.readinessChanged(of: self)
    }
}
