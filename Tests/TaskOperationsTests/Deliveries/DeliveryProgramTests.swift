import Foundation
import TestSupport
import Testing

/// `DELIVERY_SEED=17 swift test --filter DeliveryProgramTests` runs a single program.
@Suite("Random programs of deliveries", .computing, .endsInTime)
struct DeliveryProgramTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seeds =
        environment["DELIVERY_SEED"].flatMap { Int($0) }.map { $0..<$0 + 1 }
        ?? 0..<(environment["DELIVERY_SEEDS"].flatMap { Int($0) } ?? (isDeep ? 2000 : 500))

    @Test("nothing is lost, acknowledged twice, or acknowledged without success; bodies hold their leases")
    func programs() async throws {
        try await run("random programs", Self.seeds.count) { DeliveryProgram(seed: UInt64(Self.seeds.lowerBound + $0)) }
    }

    @Test("the same holds for every order of lease end, completion, answer, reply, shutdown and drain end")
    func orders() async throws {
        let programs = DeliveryProgram.ofEveryOrder(withTies: isDeep)
        try await run("orders", programs.count) { programs[$0] }
    }

    private func run(
        _ name: String, _ count: Int, _ program: @escaping @Sendable (Int) -> DeliveryProgram
    ) async throws {
        let start = ContinuousClock.now
        let attempts = try await withThrowingTaskGroup { group in
            for part in 0..<4 {
                group.addTask {
                    var attempts = 0
                    for number in stride(from: part, to: count, by: 4) {
                        let program = program(number)
                        do {
                            attempts += try DeliveryProgramRun(program).run()
                        } catch {
                            Issue.record(error, "DELIVERY_SEED=\(program.seed): \(program)")
                            break
                        }
                    }
                    return attempts
                }
            }
            return try await group.reduce(0, +)
        }
        print("deliveries: \(count) \(name), \(attempts) attempts, \(ContinuousClock.now - start)")
    }
}
