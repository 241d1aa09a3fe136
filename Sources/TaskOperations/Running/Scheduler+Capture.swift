extension Scheduler {
    /// The state of a queue at one moment. The state is a value, so that the cost of a copy does not depend on the
    /// number of operations.
    struct Capture: Sendable {
        let scheduler: Scheduler
        let state: State
        /// The start times of operations, by arrival. Contains only start times that were observed.
        let startTimes: [UInt64: Moment]
    }

    /// Captures several queues at one moment. All of them are locked while `look` is called with their captures.
    ///
    /// The schedulers are locked in the order of their numbers. Any fixed order is safe, because no other code locks
    /// one scheduler while it holds the lock of another.
    static func capture<Result: Sendable>(
        _ schedulers: some Sequence<Scheduler>, _ look: ([Capture]) -> Result
    ) -> Result {
        let ordered = schedulers.sorted { $0.queueNumber < $1.queueNumber }
        var (captures, effects) = ([Capture](), [(Scheduler, Effects)]())
        let result = capture(ordered[...], &captures, &effects, look)
        for (scheduler, effects) in effects { scheduler.perform(effects) }
        return result
    }

    /// Locks the schedulers one within the other, and calls `look` when all are locked.
    private static func capture<Result: Sendable>(
        _ schedulers: ArraySlice<Scheduler>, _ captures: inout [Capture], _ allEffects: inout [(Scheduler, Effects)],
        _ look: ([Capture]) -> Result
    ) -> Result {
        guard let next = schedulers.first else { return look(captures) }
        var effects = Effects()
        let result = next.withCore(&effects) { core in
            // No operation is added to this queue until all queues are captured.
            next.emptyInbox(&core, openFor: nil)
            let startTimes = core.observation?.value.startTimes ?? [:]
            captures.append(Capture(scheduler: next, state: core.state, startTimes: startTimes))
            return capture(schedulers.dropFirst(), &captures, &allEffects, look)
        }
        allEffects.append((next, effects))
        return result
    }
}
