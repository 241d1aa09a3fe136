extension Scheduler {
    /// How a queue stood at a moment. The state is a value, so that this costs no more for many operations.
    struct Capture: Sendable {
        let scheduler: Scheduler
        let state: State
        /// When operations started, by their arrivals, as far as anything learned of that.
        let startTimes: [UInt64: Moment]
    }

    /// Looks at several queues at one moment: all of them stand still while a function is called with how they stand.
    ///
    /// Nothing else enters a scheduler while it is in another one, so that any order that is always the same is safe.
    static func capture<Result: Sendable>(
        _ schedulers: some Sequence<Scheduler>, _ look: @escaping @Sendable ([Capture]) -> Result
    ) -> Result {
        let ordered = schedulers.sorted { $0.queueNumber < $1.queueNumber }
        var captures = Captures(waiting: ordered.reversed())
        let result = captures.capture(look)
        for (scheduler, outbox) in captures.outboxes { scheduler.carryOut(outbox) }
        return result
    }

    private struct Captures {
        var waiting: [Scheduler]
        var done: [Capture] = []
        var outboxes: [(Scheduler, State.Outbox)] = []

        /// Enters what waits, one in the other, and calls the function in the last.
        mutating func capture<Result: Sendable>(_ look: @escaping @Sendable ([Capture]) -> Result) -> Result {
            guard let next = waiting.popLast() else { return look(done) }
            var departure = Departure()
            let result = next.enter(with: &self, &departure) { scheduler, captures in
                captures.done.append(
                    Capture(scheduler: scheduler, state: scheduler.state, startTimes: scheduler.startTimes))
                return captures.capture(look)
            }
            if let outbox = departure.outbox.take() { outboxes.append((next, outbox)) }
            return result
        }
    }
}
