import Synchronization

extension TaskOperation {
    /// Runs a body with the policies in the operation's options. `OperationOptions` documents the order of policies.
    static func runWithPolicies(_ body: @escaping Body) async throws -> Success {
        let operation = AnyTaskOperation.executing!
        let options = operation.completedOptions
        let clock = options.chosenClock
        let whole = operation.record.withLock { $0.links?.timers }?.endLimit
        guard let limit = options.timeLimit else {
            guard let whole else { return try await attempts(body, options) }
            return try await whole.run { try await attempts(body, options) }
        }
        let time = whole ?? OperationTimeLimit(options.overrun ?? .wait, clock: clock)
        return try await withTimeLimit(limit, clock: clock) {
            try await time.run { try await attempts(body, options) }
        } onTimeout: {
            time.pass(limit, for: operation)
        }
    }

    private static func attempts(_ body: @escaping Body, _ options: OptionValues) async throws -> Success {
        let clock = options.chosenClock
        guard let policy = options.retry else { return try await attempt(body, options.attemptTimeLimit, clock) }
        return try await run(
            { try await attempt(body, options.attemptTimeLimit, clock) }, retrying: policy, clock: clock)
    }

    private static func attempt(
        _ body: @escaping Body, _ limit: Duration?, _ clock: any Clock<Duration>
    ) async throws -> Success {
        guard let limit else { return try await body() }
        let label = OperationLabel(AnyTaskOperation.executing!)
        return try await withCancelledBody(after: limit, clock: clock, body) {
            TaskOperationError.timedOut(label, after: limit)
        }
    }
}
