public import TaskOperations

extension TaskOperationQueue {
    /// Adds an operation repeatedly. Each round is an operation of the queue, to which the queue's width, priorities,
    /// barriers and suspension apply. A round begins after the previous one has ended.
    ///
    /// ```swift
    /// let refresh = queue.addRepeating(.name("refresh"), every: .seconds(60)) { try await model.refresh() }
    /// refresh.cancel()
    /// ```
    ///
    /// Rounds are due at fixed times, which do not depend on their durations. The repetition ends when the returned
    /// operation is cancelled, the body throws, a round is cancelled, the queue is shut down, or `times` rounds have
    /// run. If the queue is released, the repetition ends at the due time of the next round, which does not run.
    /// `withTaskOperationQueue` waits for all rounds, so a repetition in it must be cancelled.
    ///
    /// A round that is not due yet has the state `waiting`, like an operation with a delay. If the queue has no room
    /// for a round when it is due, the rule `missed` applies.
    ///
    /// - Parameters:
    ///   - options: The options of each round. Their delay delays the first round, and replaces a default of the queue.
    ///     Their clock measures time: if it jumps ahead, rounds are missed. A round fails if one of its dependencies
    ///     would wait for it.
    ///   - interval: The time between the due times of two rounds, which must be positive.
    ///   - times: The maximum number of rounds, at least 1; nil for no limit.
    ///   - missed: The rule for rounds that are due before the previous one has ended, and for rounds for which the
    ///     queue has no room.
    ///   - body: The work of each round.
    /// - Returns: The repetition, which is on no queue and takes no permit. It finishes after the last round, and fails
    ///   if a round fails.
    @discardableResult
    public func addRepeating(
        _ options: OperationOptions = OperationOptions(),
        every interval: Duration,
        times: Int? = nil,
        missed: MissedRounds = .skip,
        body: @escaping @Sendable () async throws -> Void
    ) -> TaskOperation<Void> {
        require(interval > .zero, "every is \(interval); it must be positive.")
        if let times { require(times >= 1, "times is \(times); it must be at least 1. Pass nil for no limit.") }
        let rounds = Rounds(
            options: options, schedule: RepetitionSchedule(every: interval, missed: missed), scheduler: scheduler,
            body: body)
        let first = rounds.add(to: self)
        let values = options.values
        let repetition = TaskOperation(name: values.name, priority: values.priority) {
            try await rounds.run(first, times: times ?? .max)
        }
        repetition.startNew()
        return repetition
    }
}

/// The rounds of a repetition.
private struct Rounds: Sendable {
    private let options: OperationOptions
    private var schedule: RepetitionSchedule
    /// The time at which the first round is due.
    private let start: Duration
    private let face: ClockFace
    private weak let scheduler: Scheduler?
    private let body: @Sendable () async throws -> Void

    init(
        options: OperationOptions, schedule: RepetitionSchedule, scheduler: Scheduler,
        body: @escaping @Sendable () async throws -> Void
    ) {
        let values = options.values
        self.options = options
        self.schedule = schedule
        face = ClockFace(values.chosenClock)
        start = max(values.delay?.remaining ?? .zero, .zero).saturated
        self.scheduler = scheduler
        // The queue may be released while the round waits for its time.
        self.body = { [weak scheduler] in if scheduler?.owningQueue != nil { try await body() } }
    }

    private var due: Duration { start + schedule.due }

    func add(to queue: TaskOperationQueue) -> TaskOperation<Void> {
        queue.addOperation([options, .delay(due - face.now)], body: body)
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

    /// Adds a due round that a full queue refused. Returns nil if such rounds are skipped.
    private func addWaitingForRoom() async throws -> TaskOperation<Void>? {
        guard schedule.missed == .catchUp, let scheduler else { return nil }
        let round = TaskOperation([options, .delay(.zero)], body: body)
        try await scheduler.submitWaitingForRoom(round)
        return round
    }

    /// Waits for the end of a round, and cancels it if the repetition is cancelled. Returns false if the queue had no
    /// room for the round.
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
