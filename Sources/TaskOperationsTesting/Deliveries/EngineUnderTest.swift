import TaskOperations
public import TaskOperationsDeliveries

/// An engine that is tested against the requirements of `TaskOperationQueue.consume`.
///
/// ```swift
/// @Test(arguments: EngineRequirement.allCases)
/// func conformance(requirement: EngineRequirement) async throws {
///     let (clock, lease) = (ManualClock(), Duration.seconds(30))
///     let engine = InMemoryEngine<Int>(lease: lease, clock: clock)
///     try await EngineUnderTest(
///         lease: lease, send: { engine.send($0) }, deliveries: { engine.deliveries(to: $0) },
///         pass: { clock.advance(by: $0) }
///     ).check(requirement)
/// }
/// ```
///
/// Each check needs an engine without payloads. The payloads are numbers.
public struct EngineUnderTest<Deliveries: AsyncSequence & Sendable>: Sendable where Deliveries.Element: Delivery {
    /// A delivery of the engine.
    public typealias Element = Deliveries.Element

    private let lease: Duration
    private let send: @Sendable (Int) async throws -> Void
    private let deliveries: @Sendable (String) async throws -> Deliveries
    private let pass: @Sendable (Duration) async throws -> Void
    private let number: @Sendable (Element.Payload) -> Int?

    /// Describes an engine.
    ///
    /// - Parameters:
    ///   - lease: The duration of leases.
    ///   - send: Adds a payload with a number.
    ///   - deliveries: Returns the deliveries to the worker with a name.
    ///   - pass: Lets time pass: advances the clock of the engine, or sleeps.
    ///   - number: Returns the number of a payload; nil if it is not one of `send`.
    public init(
        lease: Duration, send: @escaping @Sendable (Int) async throws -> Void,
        deliveries: @escaping @Sendable (_ worker: String) async throws -> Deliveries,
        pass: @escaping @Sendable (Duration) async throws -> Void,
        number: @escaping @Sendable (Element.Payload) -> Int? = { $0 as? Int }
    ) {
        self.lease = lease
        self.send = send
        self.deliveries = deliveries
        self.pass = pass
        self.number = number
    }

    /// Tests a requirement.
    ///
    /// - Throws: `EngineRequirementFailure` if the engine does not meet the requirement, or the error of the engine.
    public func check(_ requirement: EngineRequirement) async throws {
        let check = EngineCheck(engine: self, requirement: requirement)
        switch requirement {
        case .deliversOnce: try await check.deliversOnce()
        case .sharesPayloads: try await check.sharesPayloads()
        case .keepsLease: try await check.keepsLease()
        case .redelivers: try await check.redelivers()
        case .refusesFormerHolder: try await check.refusesFormerHolder()
        case .refusesSecondAnswer: try await check.refusesSecondAnswer()
        case .extendsLease: try await check.extendsLease()
        case .returnsRejected: try await check.returnsRejected()
        case .delaysRejected: try await check.delaysRejected()
        case .endsPull: try await check.endsPull()
        case .wakesPull: try await check.wakesPull()
        }
    }

    fileprivate func send(numbers: Int...) async throws { for number in numbers { try await send(number) } }

    fileprivate func pass(leases: Double) async throws { try await pass(lease * leases) }

    fileprivate func number(of delivery: Element) -> Int? { number(delivery.payload) }

    fileprivate func pull(_ worker: String) async throws -> Element? {
        var iterator = try await deliveries(worker).makeAsyncIterator()
        return try await iterator.next()
    }

    fileprivate var leaseTime: Duration { lease }
}

private struct EngineCheck<Deliveries: AsyncSequence & Sendable> where Deliveries.Element: Delivery {
    let engine: EngineUnderTest<Deliveries>
    let requirement: EngineRequirement

    private func require(_ condition: Bool, _ observation: @autoclosure () -> String) throws {
        if !condition { throw EngineRequirementFailure(requirement: requirement, observation: observation()) }
    }

    private func pull(_ worker: String = "one") async throws -> Deliveries.Element {
        guard let delivery = try await engine.pull(worker) else {
            throw EngineRequirementFailure(requirement: requirement, observation: "the sequence has ended")
        }
        return delivery
    }

    /// Expects that a pull receives nothing while a part of a lease passes.
    private func requireNothing(duringLeases leases: Double, _ worker: String = "two") async throws {
        let engine = engine
        let task = Task { try await engine.pull(worker) }
        try await engine.pass(leases: leases)
        task.cancel()
        let delivery = try await task.value
        try require(delivery == nil, "a pull received payload \(delivery.flatMap(engine.number) ?? -1)")
    }

    /// Lets time pass while a pull waits.
    private func pull(_ worker: String = "two", afterLeases leases: Double) async throws -> Deliveries.Element {
        try await engine.pass(leases: leases)
        return try await pull(worker)
    }

    private func requireLoss(_ call: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch is DeliveryLeaseLost {
            return
        }
        try require(false, "\(call) has thrown no DeliveryLeaseLost")
    }

    func deliversOnce() async throws {
        for number in 0..<20 { try await engine.send(numbers: number) }
        var numbers: [Int] = []
        for _ in 0..<20 {
            let delivery = try await pull()
            numbers.append(engine.number(of: delivery) ?? -1)
            try require(delivery.attempt == 1, "the first attempt has the number \(delivery.attempt)")
            try await delivery.acknowledge()
        }
        try require(numbers.sorted() == Array(0..<20), "the deliveries are \(numbers)")
        try await requireNothing(duringLeases: 1.5)
    }

    func sharesPayloads() async throws {
        try await engine.send(numbers: 1, 2)
        let (one, two) = (try await pull("one"), try await pull("two"))
        let numbers = Set([one, two].map { engine.number(of: $0) })
        try require(numbers == [1, 2], "the deliveries are \(numbers)")
        try await one.acknowledge()
        try await two.acknowledge()
    }

    func keepsLease() async throws {
        try await engine.send(numbers: 1)
        let held = try await pull()
        try await requireNothing(duringLeases: 0.5)
        try await held.acknowledge()
    }

    func redelivers() async throws {
        try await engine.send(numbers: 1)
        for attempt in 1...3 {
            let delivery = try await pull(attempt % 2 == 0 ? "two" : "one", afterLeases: attempt == 1 ? 0 : 1.2)
            try require(engine.number(of: delivery) == 1, "another payload was delivered")
            try require(delivery.attempt == attempt, "attempt \(attempt) has the number \(delivery.attempt)")
        }
    }

    func refusesFormerHolder() async throws {
        try await engine.send(numbers: 1)
        let former = try await pull()
        let holder = try await pull(afterLeases: 1.2)
        try await requireLoss("acknowledge") { try await former.acknowledge() }
        try await requireLoss("reject") { try await former.reject(retryAfter: .zero) }
        try await requireLoss("extendLease") { try await former.extendLease(by: engine.leaseTime) }
        try await holder.acknowledge()
    }

    func refusesSecondAnswer() async throws {
        try await engine.send(numbers: 1, 2)
        let (first, second) = (try await pull(), try await pull())
        try await first.acknowledge()
        try await requireLoss("a second acknowledge") { try await first.acknowledge() }
        try await second.reject(retryAfter: engine.leaseTime)
        try await requireLoss("a second reject") { try await second.reject(retryAfter: .zero) }
    }

    func extendsLease() async throws {
        try await engine.send(numbers: 1)
        let held = try await pull()
        try await engine.pass(leases: 0.7)
        try await held.extendLease(by: engine.leaseTime)
        try await requireNothing(duringLeases: 0.6)
        try await held.acknowledge()
    }

    func returnsRejected() async throws {
        try await engine.send(numbers: 1)
        try await pull().reject(retryAfter: .zero)
        let second = try await pull("two")
        try require(second.attempt == 2, "the second attempt has the number \(second.attempt)")
        try await second.reject(retryAfter: .zero, because: CancellationError())
        try await pull().acknowledge()
    }

    func delaysRejected() async throws {
        try await engine.send(numbers: 1)
        try await pull().reject(retryAfter: engine.leaseTime)
        try await requireNothing(duringLeases: 0.5)
        try await pull(afterLeases: 0.7).acknowledge()
    }

    func endsPull() async throws {
        try await requireNothing(duringLeases: 0.1)
        try await engine.send(numbers: 1)
        try await pull().acknowledge()
    }

    func wakesPull() async throws {
        let engine = engine
        let task = Task { try await engine.pull("one") }
        try await engine.pass(leases: 0.1)
        try await engine.send(numbers: 1)
        guard let delivery = try await task.value else { return try require(false, "the sequence has ended") }
        try await delivery.acknowledge()
    }
}
