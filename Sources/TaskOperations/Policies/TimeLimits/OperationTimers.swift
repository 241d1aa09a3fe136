/// The limits of an operation's time that begin when the operation is added to a queue.
final class OperationTimers: Sendable {
    /// Whether the time to the end of the operation is over; nil if that time is not limited.
    let endLimit: OperationTimeLimit?
    private let options: OptionValues
    private let timers = Lock<[TimeLimit]>([])

    init(_ options: OptionValues) {
        self.options = options
        endLimit = options.endLimit.map { _ in OperationTimeLimit(options.overrun ?? .wait, clock: options.chosenClock)
        }
    }

    func begin(for operation: AnyTaskOperation) {
        let replaced = operation.record.withLock { record in
            if record.phase == .finished { return nil as OperationTimers? }
            let links = record.madeLinks()
            defer { links.timers = self }
            return links.timers
        }
        extendLifetime(replaced)
        var begun: [(timer: TimeLimit, time: Duration)] = []
        if let limit = options.startLimit?.remaining {
            let timer = TimeLimit { [weak operation] in operation?.startTimePassed(limit) }
            begun.append((timer, limit))
        }
        if let limit = options.endLimit?.remaining, let endLimit {
            let timer = TimeLimit { [weak operation] in
                if let operation { endLimit.pass(limit, for: operation) }
            }
            begun.append((timer, limit))
        }
        timers.withLock { $0 = begun.map(\.timer) }
        guard operation.addHandlerUnlessFinished({ [weak self] _ in self?.end() }) else { return }
        for (timer, time) in begun { timer.start(time, clock: options.chosenClock) }
        // The operation may have ended meanwhile.
        if operation.isFinished { end() }
    }

    func end() {
        for timer in timers.withLock({ $0 }) { timer.end() }
    }
}

extension AnyTaskOperation {
    /// The time to start is over: the operation fails, unless it has started.
    fileprivate func startTimePassed(_ limit: Duration) {
        endUnlessStarted(TaskOperationError.notStarted(OperationLabel(self), after: limit), isCancellation: false)
    }
}
