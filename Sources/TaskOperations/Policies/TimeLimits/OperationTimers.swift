import Synchronization

/// The timers of `starting(within:)` and `ending(within:)`. They start when the operation is added to a queue.
final class OperationTimers: Sendable {
    /// Records whether the limit `ending(within:)` has passed; nil if the operation does not have this limit.
    let endLimit: OperationTimeLimit?
    private let options: OptionValues
    let timeToStart: Duration?
    private let timeToEnd: Duration?
    private let timers = Lock<[TimeLimit]>([])

    init(_ options: OptionValues) {
        self.options = options
        timeToStart = options.startLimit?.remaining
        timeToEnd = options.endLimit?.remaining
        endLimit = options.endLimit.map { _ in OperationTimeLimit(options.overrun ?? .wait, clock: options.chosenClock)
        }
    }

    /// Ends an operation, because a limit passed before the operation was added.
    func endPassed(_ operation: AnyTaskOperation) {
        if let timeToStart, timeToStart <= .zero { return operation.startTimePassed(timeToStart) }
        if let timeToEnd { endLimit?.end(operation, after: timeToEnd) }
    }

    func begin(for operation: AnyTaskOperation) {
        let isLate = [timeToStart, timeToEnd].contains { $0.map { $0 <= .zero } ?? false }
        let replaced = operation.record.withLock { record in
            if record.phase == .finished { return nil as OperationTimers? }
            record.isLate = isLate
            let links = record.madeLinks()
            defer { links.timers = self }
            return links.timers
        }
        extendLifetime(replaced)
        // The queue ends the operation when the operation is inserted.
        if isLate { return }
        var begun: [(timer: TimeLimit, time: Duration)] = []
        if let limit = timeToStart {
            let timer = TimeLimit { [weak operation] in operation?.startTimePassed(limit) }
            begun.append((timer, limit))
        }
        if let limit = timeToEnd, let endLimit {
            let timer = TimeLimit { [weak operation] in
                if let operation { endLimit.pass(limit, for: operation) }
            }
            begun.append((timer, limit))
        }
        timers.withLock { $0 = begun.map(\.timer) }
        guard operation.addHandlerUnlessFinished(isOwn: true, { [weak self] _ in self?.end() }) else { return }
        for (timer, time) in begun { timer.start(time, clock: options.chosenClock) }
        // If the operation finished before the timers started, the handler called `end` too early.
        if operation.isFinished { end() }
    }

    func end() {
        for timer in timers.withLock({ $0 }) { timer.end() }
    }
}

extension AnyTaskOperation {
    /// Fails the operation with `TaskOperationError.notStarted`, unless it has started.
    fileprivate func startTimePassed(_ limit: Duration) {
        endUnlessStarted(TaskOperationError.notStarted(OperationLabel(self), after: limit), isCancellation: false)
    }
}
