import Simulation
import TestSupport
import Testing

@Suite("Shrinking a program that fails", .inTurns, .endsInTime)
struct ShrinkerTests {
    /// Treats a program as failing if it cancels an operation that has a dependency.
    private static func fails(_ program: Program) -> Bool {
        let cancelled = program.operations.flatMap(\.steps) + program.steps
        return cancelled.contains { step in
            if case .call(.cancel(let number)) = step {
                !program.operations[number].dependencies.isEmpty
            } else {
                false
            }
        }
    }

    @Test("the reduced program contains only the steps that the failure needs", arguments: 0..<20 as Range<UInt64>)
    func planted(first: UInt64) throws {
        let seed = try #require((first * 100..<first * 100 + 100).first { Self.fails(Program(seed: $0)) })
        var shrinker = Shrinker(fails: Self.fails)
        let shrunk = shrinker.shrink(Program(seed: seed))
        #expect(Self.fails(shrunk))
        #expect(shrunk.operations.count == 2)
        #expect(shrunk.size == 4, "two operations, an edge and the step: \(shrunk)")
    }

    @Test("a program that fails only when it runs is shrunk by running it")
    func whatHappened() throws {
        /// Treats a program as failing if an operation's wait is refused because it would close a cycle.
        func fails(_ program: Program) -> Bool {
            program.run(keepsTrace: true).trace.contains { $0.contains("waitCycle") }
        }
        let seed = try #require((0..<1000 as Range<UInt64>).first { fails(Program(seed: $0)) })
        var shrinker = Shrinker(fails: fails)
        let shrunk = shrinker.shrink(Program(seed: seed))
        #expect(fails(shrunk))
        #expect(shrunk.size < Program(seed: seed).size)
        #expect(shrunk.size <= 6, "\(shrunk)")
    }
}
