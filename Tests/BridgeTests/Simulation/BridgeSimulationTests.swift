import Foundation
import TaskOperationsExpectations
import Testing

/// Random programs of operations of both worlds, on queues of ours and bridged ones, beside a model; and the same on
/// queues of Foundation, so that the model is right.
///
/// `BRIDGE_SEEDS=1000000 swift test --filter BridgeSimulationTests` runs more of them, and `BRIDGE_SEED=17` one alone.
@Suite(
    "Random programs over the bridge, beside a model and beside Foundation", .computing,
    .timeLimit(.minutes(600)))
struct BridgeSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["BRIDGE_SEEDS"].flatMap { UInt64($0) } ?? 10_000
    private static let seeds = environment["BRIDGE_SEED"].flatMap { UInt64($0) }.map { $0..<$0 + 1 } ?? 0..<count

    @Test("Queues of ours and bridged ones do as the model says", arguments: 0..<4 as Range<UInt64>)
    func ours(part: UInt64) throws {
        for seed in Self.seeds where seed % 4 == part { try run(BridgeProgram(seed: seed, kinds: [.ours, .bridged])) }
    }

    @Test("So do those of Foundation")
    func foundations() throws {
        for seed in Self.seeds where seed % 20 == 0 {
            let program = BridgeProgram(seed: seed, kinds: [.foundation])
            // Foundation on Linux sometimes never starts an operation that becomes ready while it is added. That is no error
            // of the model.
            try run(program) { !$0.hasPrefix("does not come to rest") }
        }
    }

    private func run(_ program: BridgeProgram, isFault: (String) -> Bool = { _ in true }) throws {
        let faults = try BridgeWorld(program).run()
        if let first = faults.first, !isFault(first) { return }
        try #require(faults.isEmpty, "BRIDGE_SEED=\(program.seed) runs this alone: \(program)")
    }
}
