import TaskOperationsExtras

/// Asks the first of several mirrors that answers.
struct MirrorClient<Request: Sendable, Response: Sendable>: Sendable {
    private let mirrors: [(name: String, breaker: CircuitBreaker)]
    private let budget = RetryBudget(ratio: 0.1, maxTokens: 1)
    private let clock: any Clock<Duration>
    private let fetch: @Sendable (_ mirror: String, Request) async throws -> Response

    init(
        mirrors: [String], clock: any Clock<Duration> = ContinuousClock(),
        fetch: @escaping @Sendable (_ mirror: String, Request) async throws -> Response
    ) {
        self.clock = clock
        self.fetch = fetch
        self.mirrors = mirrors.map { name in
            let breaker = CircuitBreaker(
                name: name, failureRatio: 0.5, minCallCount: 3, breakDuration: .seconds(10), clock: clock)
            return (name, breaker)
        }
    }

    func response(to request: Request) async throws -> Response {
        try await firstValue(
            of: mirrors, hedgingAfter: .milliseconds(50), budget: budget, clock: clock
        ) { [fetch] mirror in
            try await mirror.breaker.run { try await fetch(mirror.name, request) }
        }
    }
}
