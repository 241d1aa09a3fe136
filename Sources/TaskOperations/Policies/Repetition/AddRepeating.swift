extension TaskOperationQueue {
    /// Adds an operation again and again: each round is an operation of the queue, with its width, priorities, barriers
    /// and suspension, and no round begins before the one before has ended.
    ///
    /// ```swift
    /// let refresh = queue.addRepeating(name: "refresh", every: .seconds(60)) { try await model.refresh() }
    /// refresh.cancel()
    /// ```
    ///
    /// Rounds are due at fixed times, however long they take. It goes on until the returned operation is cancelled, the
    /// body throws, a round is cancelled, the queue is shut down, or `times` rounds have run. Nothing but that ends it,
    /// except that no further round begins after the queue was released; within `withTaskOperationQueue`, which waits for
    /// all rounds, it has to be cancelled.
    ///
    /// A round that waits for its time is pending, as an operation with a delay is.
    ///
    /// - Parameters:
    ///   - name: What it and its rounds are called in messages and descriptions.
    ///   - priority: What orders rounds among the ready operations of the queue.
    ///   - interval: From the time of one round to that of the next; positive.
    ///   - delay: How long it is to the first round at least. A duration that is not positive delays nothing.
    ///   - times: How many rounds there are at most, at least 1; nil for no limit.
    ///   - missed: What becomes of rounds whose time comes before the one before has ended.
    ///   - clock: What measures time. If it jumps ahead, rounds are missed.
    ///   - body: What each round does.
    /// - Returns: The repetition, which is on no queue and takes no permit. It is finished when the last round is, and
    ///   fails if a round did.
    @discardableResult
    public func addRepeating<C: Clock>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        every interval: Duration,
        delay: Duration = .zero,
        times: Int? = nil,
        missed: MissedRounds = .skipped,
        clock: C = ContinuousClock(),
        body: @escaping @Sendable () async throws -> Void
    ) -> TaskOperation<Void> where C.Duration == Duration {
        require(interval > .zero, "every is \(interval); it must be positive.")
        if let times { require(times >= 1, "times is \(times); it must be at least 1. Pass nil for no limit.") }
        let rounds = Rounds(
            name: name, priority: priority, schedule: RepetitionSchedule(every: interval, missed: missed),
            start: clock.now.advanced(by: max(delay, .zero)), clock: clock, body: body)
        let first = rounds.add(to: self)
        let repetition = TaskOperation(name: name, priority: priority) { [weak scheduler] in
            try await rounds.run(first, times: times ?? .max) { scheduler?.owningQueue }
        }
        repetition.startNew()
        return repetition
    }
}

/// The rounds of a repetition.
private struct Rounds<C: Clock>: Sendable where C.Duration == Duration {
    let name: String?
    let priority: TaskPriority
    var schedule: RepetitionSchedule
    /// When the first round is due.
    let start: C.Instant
    let clock: C
    let body: @Sendable () async throws -> Void

    func add(to queue: TaskOperationQueue) -> TaskOperation<Void> {
        queue.addOperation(
            name: name, priority: priority, delay: clock.now.duration(to: start.advanced(by: schedule.due)),
            clock: clock, body: body)
    }

    /// Waits for round after round, and adds the next one.
    ///
    /// - Parameter queue: The queue; nil once it was released.
    consuming func run(_ first: TaskOperation<Void>, times: Int, on queue: () -> TaskOperationQueue?) async throws {
        var (round, count) = (first, 1)
        while true {
            try await Self.wait(for: round)
            if count >= times { return }
            schedule.roundEnded(at: start.duration(to: clock.now))
            guard let queue = queue() else { return }
            round = add(to: queue)
            count += 1
        }
    }

    /// Waits for the end of a round, and cancels it if the repetition is cancelled.
    private static func wait(for round: TaskOperation<Void>) async throws {
        try await withTaskCancellationHandler {
            try await round.result.get()
        } onCancel: {
            round.cancel()
        }
    }
}
