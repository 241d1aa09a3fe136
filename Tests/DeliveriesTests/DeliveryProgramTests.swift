import Foundation
import TaskOperationsExpectations
import Testing

/// `DELIVERY_SEED=17 swift test --filter DeliveryProgramTests` runs one program alone.
@Suite("Random programs of deliveries", .computing, .timeLimit(.minutes(60)))
struct DeliveryProgramTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seeds: Range<UInt64> =
        environment["DELIVERY_SEED"].flatMap { UInt64($0) }.map { $0..<$0 + 1 }
        ?? 0..<(environment["DELIVERY_SEEDS"].flatMap { UInt64($0) } ?? (isDeep ? 5000 : 1000))

    @Test("nothing is lost, acknowledged twice, or acknowledged without success; bodies hold their leases")
    func programs() async throws {
        let start = ContinuousClock.now
        let attempts = try await withThrowingTaskGroup { group in
            for part in 0..<4 as Range<UInt64> {
                group.addTask {
                    var count = 0
                    for seed in Self.seeds where seed % 4 == part {
                        do {
                            count += try DeliveryProgramRun(DeliveryProgram(seed: seed)).run()
                        } catch {
                            Issue.record(error, "DELIVERY_SEED=\(seed): \(DeliveryProgram(seed: seed))")
                            return count
                        }
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        print("deliveries: \(Self.seeds.count) programs, \(attempts) attempts, \(ContinuousClock.now - start)")
    }
}
