import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDeliveries

/// `ServerTests` checks the same requirements with servers.
@Suite("Requirements of engines", .endsInTime)
struct EngineConformanceTests {
    private let clock = ManualClock()
    private let lease = Duration.seconds(30)

    @Sendable private func pass(_ time: Duration) async {
        for _ in 0..<100 { await Task.yield() }
        clock.advance(by: time)
        for _ in 0..<100 { await Task.yield() }
    }

    @Test("the engine in memory", arguments: EngineRequirement.allCases)
    func memory(requirement: EngineRequirement) async throws {
        let engine = InMemoryEngine<Int>(lease: lease, clock: clock)
        try await EngineUnderTest(
            lease: lease, send: { engine.send($0) }, deliveries: { engine.deliveries(to: $0) }, pass: pass
        ).check(requirement)
    }

    @Test("the engine in a journal", arguments: EngineRequirement.allCases)
    func journal(requirement: EngineRequirement) async throws {
        let folder = JournalFolder()
        var configuration = JournalConfiguration(durability: .never, lease: lease)
        configuration.clock = clock
        let engine = try await JournalEngine<Int>(directory: folder.path, configuration: configuration)
        try await EngineUnderTest(
            lease: lease, send: { try await engine.enqueue($0) }, deliveries: { _ in engine.deliveries() }, pass: pass
        ).check(requirement)
        await engine.close()
    }

    /// Delivers each payload twice.
    private struct Forgetful: Delivery {
        let id: Int
        let payload: Int
        let attempt = 1
        func acknowledge() async throws {}
        func reject(retryAfter delay: Duration) async throws {}
        func extendLease(by duration: Duration) async throws {}
    }

    @Test("an engine that forgets who holds a payload meets few requirements, and the failure says what was observed")
    func forgetfulEngine() async throws {
        let sent = Recorder<Int>()
        let engine = EngineUnderTest(
            lease: lease, send: { sent.record($0) },
            deliveries: { _ in
                AsyncStream<Forgetful> { stream in
                    for number in sent.events { stream.yield(Forgetful(id: number, payload: number)) }
                }
            },
            pass: pass)
        let failure = await #expect(throws: EngineRequirementFailure.self) { try await engine.check(.keepsLease) }
        #expect(failure?.requirement == .keepsLease && failure?.observation == "a pull received payload 1")
        await #expect(throws: EngineRequirementFailure.self) { try await engine.check(.refusesSecondAnswer) }
    }
}
