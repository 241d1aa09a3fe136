import Exploration
import Testing

@testable import Simulation

@Suite("Programs of the simulation on threads", .serialized)
struct ThreadedProgramTests {
    @Test("all operations end, once, after their dependencies, and nothing is left")
    func random() async throws {
        let result = await explore(Amount.strategy) { seed in
            ThreadedProgram(seed: seed).explored(name: "threads \(seed)")
        }
        await report(result) { ThreadedProgram(seed: $0) }
    }

    @Test("there is an order of the calls in which the model does the same")
    func linearizable() async throws {
        let result = await explore(Amount.strategy) { seed in
            Self.orderable(seed).explored(name: "linearizable \(seed)")
        }
        await report(result, Self.orderable)
    }

    @Sendable
    private static func orderable(_ seed: UInt64) -> ThreadedProgram {
        ThreadedProgram(Program(seed: seed).orderable, seed: seed)
    }

    /// Prints the extent of the exploration. If a program failed, also prints the smallest program that fails.
    private func report(
        _ result: ExplorationResult?, _ program: @escaping @Sendable (UInt64) -> ThreadedProgram
    ) async {
        guard let result else { return }
        print("explored: \(result.scheduleCount) schedules, \(result.stepCount) steps")
        guard let failure = result.failure, let seed = failure.seed else { return }
        let shrunk = await onOwnThread { program(seed).shrunk(seed: seed, after: failure) }
        if let shrunk { print("A smaller program that fails:\n\(shrunk)") }
    }
}
