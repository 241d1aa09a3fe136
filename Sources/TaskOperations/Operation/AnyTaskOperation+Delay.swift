// An operation with a delay waits for its deadline and for its dependencies.

import Synchronization

extension AnyTaskOperation {
    /// Begins the delay of the operation. Called when a queue has accepted the operation and cannot start it yet.
    func beginDelay<C: Clock>(_ delay: Duration, on clock: C) where C.Duration == Duration {
        if Deadlines.add(self, after: delay, on: clock) { return }
        let face = ClockFace(clock)
        let end = face.moment(after: delay)
        let timer = TaskOperation<Void>(name: name.map { "delay of \"\($0)\"" } ?? "delay") {
            await face.sleep(until: end)
        }
        // If one of the calls fails, the operation has ended in the meantime.
        guard addHandlerUnlessFinished(isOwn: true, { _ in timer.cancel() }) else { return }
        do {
            try addDependency(timer)
        } catch {
            return
        }
        timer.startNew()
    }
}

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
        record.withLock { $0.insertedHost }?.delayEnded(of: self)
    }
}
