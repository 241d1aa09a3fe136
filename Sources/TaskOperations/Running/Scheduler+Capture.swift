extension Scheduler {
    /// The state of a queue at one moment. It is a value, so the cost does not depend on the number of operations.
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
        _ schedulers: some Sequence<Scheduler>, _ look: ([Capture]) -> Result
    ) -> Result {
        let ordered = schedulers.sorted { $0.queueNumber < $1.queueNumber }
        var (captures, effects) = ([Capture](), [(Scheduler, Effects)]())
        let result = capture(ordered[...], &captures, &effects, look)
        for (scheduler, effects) in effects { scheduler.perform(effects) }
        return result
    }

    /// Locks the schedulers one within the other, and calls the function in the last.
    private static func capture<Result: Sendable>(
        _ schedulers: ArraySlice<Scheduler>, _ captures: inout [Capture], _ allEffects: inout [(Scheduler, Effects)],
        _ look: ([Capture]) -> Result
    ) -> Result {
        guard let next = schedulers.first else { return look(captures) }
        var effects = Effects()
        let result = next.withCore(&effects) { core in
            captures.append(Capture(scheduler: next, state: core.state, startTimes: core.startTimes))
            return capture(schedulers.dropFirst(), &captures, &allEffects, look)
        }
        allEffects.append((next, effects))
        return result
    }
}
