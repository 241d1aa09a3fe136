extension Scheduler {
    /// The state of a queue at one moment. The state is a value, so that the cost of a copy does not depend on the
    /// number of operations.
    struct Capture: Sendable {
        let scheduler: Scheduler
        let state: State
        /// The start times of operations, by arrival. Contains only start times that were observed.
        let startTimes: [UInt64: Moment]
        /// The scheduler whose suspension also suspends the queue; nil if there is none.
        let suspensionSource: Scheduler?
    }

    /// Captures several queues at one moment. All of them are locked while `look` is called with their captures.
    ///
    /// The schedulers are locked in the order of their numbers. Any fixed order is safe, because no other code locks
    /// one scheduler while it holds the lock of another.
    static func capture<Result: Sendable>(
        _ schedulers: some Sequence<Scheduler>, _ look: ([Capture]) -> Result
    ) -> Result {
        var captures: [Capture] = []
        return withCores(of: schedulers.sorted { $0.queueNumber < $1.queueNumber }) { scheduler, core in
            // No operation is added to this queue until all queues are captured.
            scheduler.emptyInbox(&core, openFor: nil)
            let startTimes = core.observation?.value.startTimes ?? [:]
            captures.append(
                Capture(
                    scheduler: scheduler, state: core.state, startTimes: startTimes,
                    suspensionSource: core.suspensionSource))
        } then: {
            look(captures)
        }
    }
}
