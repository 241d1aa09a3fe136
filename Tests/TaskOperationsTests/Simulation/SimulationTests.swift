import Foundation
import Simulation
import TestSupport
import Testing

/// Runs random programs on the library and on its model. The seed of each program determines the order of its tasks.
///
/// `SIMULATION_SEEDS=1000000 swift test --filter SimulationTests` runs more programs. `SIMULATION_SEED=17` runs a
/// single program and prints its trace.
@Suite("Random programs, beside a model", .computing, .timeLimit(.minutes(600)))
struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let one = environment["SIMULATION_SEED"].flatMap { UInt64($0) }
    private static let count = environment["SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? (isDeep ? 4_000 : 2000)
    private static let parts: UInt64 = 4

    /// The numbers of events between two comparisons with the model. Frequent and rare comparisons differ, because a
    /// comparison makes a queue take in the operations that were added.
    private static let eventsBetweenLooks = [1, 16]

    /// Comparing is nearly half of the work, so only a quarter of the programs are compared after every event.
    private static func eventsBetweenLooks(ofPart part: UInt64) -> Int { eventsBetweenLooks[part == 0 ? 0 : 1] }

    @Test("the library does as the model says", .enabled(if: one == nil))
    func seeds() async throws {
        let start = ContinuousClock.now
        let tally = try await withThrowingTaskGroup { group in
            for part in 0..<Self.parts {
                let seeds = Self.count * part / Self.parts..<Self.count * (part + 1) / Self.parts
                group.addTask { try SeedTally(of: seeds, eventsBetweenLooks: Self.eventsBetweenLooks(ofPart: part)) }
            }
            return try await group.reduce(SeedTally()) { $0 + $1 }
        }
        print("simulated: \(tally), \(ContinuousClock.now - start)")
        #expect(tally.seeds == Int(Self.count))
    }

    @Test("one seed", .enabled(if: one != nil))
    func oneSeed() throws {
        let seed = try #require(Self.one)
        for events in Self.eventsBetweenLooks {
            print(Program(seed: seed).run(keepsTrace: true, eventsBetweenLooks: events))
            _ = try SeedTally(of: seed..<seed + 1, eventsBetweenLooks: events)
        }
    }

    @Test("a seed does the same again", arguments: [1, 2, 3, 100, 4711] as [UInt64])
    func repeatable(seed: UInt64) {
        let (first, second) = (Program(seed: seed).run(keepsTrace: true), Program(seed: seed).run(keepsTrace: true))
        #expect(first.trace == second.trace)
        #expect(first.violations.isEmpty)
    }

    @Test("any bytes can be decoded to a program")
    func bytes() {
        for length in 0..<200 {
            var choices = ByteChoices((0..<length).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 37 &+ length) })
            #expect(Program(from: &choices).run().violations.isEmpty)
        }
    }
}
