public import TaskOperations

extension TaskOperationQueue {
    /// Adds an operation repeatedly. Each round is a new operation of the queue. The queue's width, priorities,
    /// barriers and suspension apply to each round. A round begins after the previous round has ended.
    ///
    /// ```swift
    /// let refresh = queue.addRepeating(name: "refresh", every: .seconds(60)) { try await model.refresh() }
    /// refresh.cancel()
    /// ```
    ///
    /// Rounds are due at fixed times, which do not depend on the durations of the rounds. The repetition ends when the
    /// first of these events occurs:
    ///
    /// - The returned operation or a round is cancelled.
    /// - The body throws an error.
    /// - The queue is shut down.
    /// - The last of `times` rounds has ended.
    /// - The next round is due after the queue was released. That round does not run.
    ///
    /// `withTaskOperationQueue` waits for all rounds. Cancel a repetition on its queue before the closure returns.
    ///
    /// A round that is not due yet has the state `waiting`, like an operation with a delay. If the queue or a limit
    /// refuses a round, the rule `missed` applies. Such a round does not count in `times`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The options of each round. The delay applies only to the first round. A default delay of the queue
    ///     is ignored. The clock measures the interval. If the clock jumps ahead, rounds are missed. A round fails if
    ///     its dependencies would close a cycle.
    ///   - interval: The time between the due times of two rounds. It must be positive.
    ///   - times: The maximum number of rounds, at least 1. If nil, the number is unlimited.
    ///   - missed: The rule for rounds that are due before the previous round has ended, and for rounds that the queue
    ///     or a limit refuses.
    ///   - body: The work of each round.
    /// - Returns: An operation that represents the repetition. It is on no queue and takes no permit. It finishes after
    ///   the last round, and fails if a round fails. If it is cancelled before its start, it finishes at once, and the
    ///   first round is cancelled soon after.
    @discardableResult
    public func addRepeating(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        every interval: Duration,
        times: Int? = nil,
        missed: MissedRounds = .skip,
        body: @escaping @Sendable () async throws -> Void
    ) -> TaskOperation<Void> {
        require(interval > .zero, "every is \(interval); it must be positive.")
        if let times { require(times >= 1, "times is \(times); it must be at least 1. Pass nil for no limit.") }
        let options = options.with(priority)
        let rounds = Rounds(
            name: name, dependencies: dependencies, options: options,
            schedule: RepetitionSchedule(every: interval, missed: missed), scheduler: scheduler,
            body: body)
        let first = rounds.round()
        addNew(first)
        let repetition = TaskOperation(name: name, priority: options.level?.taskPriority) {
            try await rounds.run(first, times: times ?? .max)
        }
        // If the repetition is cancelled before its body begins, the body does not cancel the first round.
        repetition.addCompletionHandler { [weak first] in first?.cancel() }
        repetition.startNew()
        return repetition
    }
}

private struct Rounds: Sendable {
    private let name: String?
    private let dependencies: [AnyTaskOperation]
    private let options: OperationOptions
    private var schedule: RepetitionSchedule
    /// The time at which the first round is due.
    private let start: Duration
    private let face: ClockFace
    private weak let scheduler: Scheduler?
    private let body: @Sendable () async throws -> Void

    init(
        name: String?, dependencies: [AnyTaskOperation], options: OperationOptions, schedule: RepetitionSchedule,
        scheduler: Scheduler,
        body: @escaping @Sendable () async throws -> Void
    ) {
        let (delay, clock) = options.schedule
        (self.name, self.dependencies, self.options) = (name, dependencies, options)
        self.schedule = schedule
        face = ClockFace(clock)
        start = max(delay ?? .zero, .zero).saturated
        self.scheduler = scheduler
        // The queue may be released while the round waits for its due time.
        self.body = { [weak scheduler] in if scheduler?.owner != nil { try await body() } }
    }

    private var due: Duration { start + schedule.due }

    /// Creates a round that is due at the next due time.
    func round() -> TaskOperation<Void> { round(after: due - face.now) }

    private func round(after delay: Duration) -> TaskOperation<Void> {
        TaskOperation(name: name, dependencies: dependencies, [options, .delay(delay)], body: body)
    }

    /// Waits for the end of each round, and adds the next round.
    consuming func run(_ first: TaskOperation<Void>, times: Int) async throws {
        var (round, count, isLate) = (first, 0, false)
        while true {
            if try await Self.hasRun(round) {
                (count, isLate) = (count + 1, false)
            } else {
                // A late round was refused again.
                await face.sleep(until: isLate ? face.now + schedule.interval : due)
                try Task.checkCancellation()
                if let late = try await addWaitingForRoom() {
                    (round, isLate) = (late, true)
                    continue
                }
            }
            if count >= times { return }
            schedule.roundEnded(at: face.now - start)
            round = self.round()
            if await !addUnlessReleased(round) { return }
        }
    }

    /// Adds a round. If the repetition is cancelled, the round is cancelled before: its queue may be the queue of a
    /// scope that has ended since then, and would count the refusal as a failure. Returns false and does nothing if the
    /// queue was released.
    private func addUnlessReleased(_ round: TaskOperation<Void>) async -> Bool {
        await withTaskCancellationHandler {
            guard let queue = scheduler?.owner else { return false }
            queue.addNew(round)
            return true
        } onCancel: {
            round.cancel()
        }
    }

    /// Waits for room in the queue, and adds a round that is due. Returns nil if refused rounds are skipped.
    private func addWaitingForRoom() async throws -> TaskOperation<Void>? {
        guard schedule.missed == .catchUp, let scheduler else { return nil }
        let round = round(after: .zero)
        do {
            try await withTaskCancellationHandler {
                try await scheduler.submitWaitingForRoom(round)
            } onCancel: {
                round.cancel()
            }
        } catch let error as TaskOperationError where error.isRefusal(of: round) {
            // The round has ended with this error.
        }
        return round
    }

    /// Waits for the end of a round. If the repetition is cancelled meanwhile, cancels the round. Returns false if the
    /// round was refused.
    private static func hasRun(_ round: TaskOperation<Void>) async throws -> Bool {
        let result = await withTaskCancellationHandler {
            await round.result
        } onCancel: {
            round.cancel()
        }
        if case .failure(let error as TaskOperationError) = result, error.isRefusal(of: round) { return false }
        try result.get()
        return true
    }
}

extension TaskOperationError {
    /// Whether the queue or a limit refused or dropped an operation, which can be added later.
    fileprivate func isRefusal(of operation: AnyTaskOperation) -> Bool {
        switch self {
        case .queueFull(let label, _), .dropped(let label, _), .limitFull(let label, _, _):
            label == OperationLabel(operation)
        case .dependencyCycle, .waitCycle, .alreadyAdded, .alreadyStarted, .bodyNotCalled, .notReady,
            .dependencyFailed, .queueShutDown, .weightExceedsCapacity, .startTimedOut, .timedOut:
            false
        }
    }
}
