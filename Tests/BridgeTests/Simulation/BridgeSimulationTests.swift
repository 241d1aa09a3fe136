import Foundation
import TestSupport
import Testing

/// Runs random programs of operations of both libraries on queues of this library and on bridged queues, and compares
/// them with a model. To validate the model, also runs the programs on Foundation queues.
///
/// `BRIDGE_SEEDS=1000000 swift test --filter BridgeSimulationTests` runs more programs. `BRIDGE_SEED=17` runs a single
/// one.
@Suite(
    "Random programs over the bridge, beside a model and beside Foundation", .computing,
    .timeLimit(.minutes(600)))
struct BridgeSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["BRIDGE_SEEDS"].flatMap { UInt64($0) } ?? (isDeep ? 5_000 : 2000)
    private static let seeds = environment["BRIDGE_SEED"].flatMap { UInt64($0) }.map { $0..<$0 + 1 } ?? 0..<count

    @Test("Queues of ours and bridged ones do as the model says", arguments: 0..<4 as Range<UInt64>)
    func ours(part: UInt64) throws {
        for seed in Self.seeds where seed % 4 == part { try run(BridgeProgram(seed: seed, kinds: [.ours, .bridged])) }
    }

    @Test("So do those of Foundation")
    func foundations() throws {
        for seed in Self.seeds where seed % 20 == 0 {
            let program = BridgeProgram(seed: seed, kinds: [.foundation])
            // On Linux, Foundation sometimes never starts an operation that becomes ready while it is added. That is
            // not an error of the model.
            try run(program) { !$0.hasPrefix("does not come to rest") }
        }
    }

    private func run(_ program: BridgeProgram, isFault: (String) -> Bool = { _ in true }) throws {
        let faults = try BridgeWorld(program).run()
        if let first = faults.first, !isFault(first) { return }
        try #require(faults.isEmpty, "BRIDGE_SEED=\(program.seed) runs this alone: \(program)")
    }
}
