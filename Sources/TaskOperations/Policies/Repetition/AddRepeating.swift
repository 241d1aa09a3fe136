extension TaskOperationQueue {
    /// Adds an operation again and again: each round is an operation of the queue, with its width, priorities, barriers
    /// and suspension, and no round begins before the one before has ended.
    ///
    /// ```swift
    /// let refresh = queue.addRepeating(name: "refresh", every: .seconds(60)) { try await model.refresh() }
    /// refresh.cancel()
    /// ```
    ///
    /// Rounds are due at fixed times, however long they take. The repetition ends when the returned operation is
    /// cancelled, the body throws, a round is cancelled, the queue is shut down, or `times` rounds have run. It also ends
    /// after the queue is released, at the time of the next round, which does not run. `withTaskOperationQueue` waits for
    /// all rounds, so a repetition in it must be cancelled.
    ///
    /// A round that waits for its time is pending, as an operation with a delay is. If the queue has no room for a round,
    /// `missed` decides what happens to the round at its time.
    ///
    /// - Parameters:
    ///   - name: What it and its rounds are called in messages and descriptions.
    ///   - priority: What orders rounds among the ready operations of the queue.
    ///   - interval: From the time of one round to that of the next; positive.
    ///   - delay: How long it is to the first round at least. A duration that is not positive delays nothing.
    ///   - times: How many rounds there are at most, at least 1; nil for no limit.
    ///   - missed: What becomes of rounds whose time comes before the one before has ended, and of rounds for which the
    ///     queue has no room.
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
            start: max(delay, .zero).saturated, clock: clock, scheduler: scheduler, body: body)
        let first = rounds.add(to: self)
        let repetition = TaskOperation(name: name, priority: priority) {
            try await rounds.run(first, times: times ?? .max)
        }
        repetition.startNew()
        return repetition
    }
}

/// The rounds of a repetition.
private struct Rounds<C: Clock>: Sendable where C.Duration == Duration {
    private let name: String?
    private let priority: TaskPriority
    private var schedule: RepetitionSchedule
    /// When the first round is due.
    private let start: Duration
    private let clock: C
    private let face: ClockFace
    private weak let scheduler: Scheduler?
    private let body: @Sendable () async throws -> Void

    init(
        name: String?, priority: TaskPriority, schedule: RepetitionSchedule, start: Duration, clock: C,
        scheduler: Scheduler, body: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.priority = priority
        self.schedule = schedule
        self.start = start
        self.clock = clock
        face = ClockFace(clock)
        self.scheduler = scheduler
        // The queue may be released while the round waits for its time.
        self.body = { [weak scheduler] in if scheduler?.owningQueue != nil { try await body() } }
    }

    private var due: Duration { start + schedule.due }

    func add(to queue: TaskOperationQueue) -> TaskOperation<Void> {
        queue.addOperation(name: name, priority: priority, delay: due - face.now, clock: clock, body: body)
    }

    /// Waits for one round after another, and adds the next.
    consuming func run(_ first: TaskOperation<Void>, times: Int) async throws {
        var (round, count) = (first, 0)
        while true {
            if try await Self.hasRun(round) {
                count += 1
            } else {
                await face.sleep(until: due)
                try Task.checkCancellation()
                if let late = try await addWaitingForRoom() {
                    round = late
                    continue
                }
            }
            if count >= times { return }
            schedule.roundEnded(at: face.now - start)
            guard let queue = scheduler?.owningQueue else { return }
            round = add(to: queue)
        }
    }

    /// Adds a round that is due and was refused. Returns nil if such rounds are skipped.
    private func addWaitingForRoom() async throws -> TaskOperation<Void>? {
        guard schedule.missed == .caughtUp, let scheduler else { return nil }
        let round = TaskOperation(name: name, priority: priority, body: body)
        try await scheduler.submitWaitingForRoom(round)
        return round
    }

    /// Waits for the end of a round, and cancels it if the repetition is cancelled. Returns false if the queue had no room
    /// for the round.
    private static func hasRun(_ round: TaskOperation<Void>) async throws -> Bool {
        let result = await withTaskCancellationHandler {
            await round.result
        } onCancel: {
            round.cancel()
        }
        switch result {
        case .failure(TaskOperationError.queueFull(let label, _)) where label.isLabel(of: round): return false
        case .failure(TaskOperationError.dropped(let label, _)) where label.isLabel(of: round): return false
        default: try result.get()
        }
        return true
    }
}
