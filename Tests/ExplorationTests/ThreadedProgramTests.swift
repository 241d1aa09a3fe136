@testable import ExploredSimulation
import Exploration
import Testing

@Suite("Programs of the simulation on threads", .serialized)
struct ThreadedProgramTests {
    @Test("all operations end, once, after their dependencies, and nothing is left")
    func random() async throws {
        let result = await explore(.uniform(seeds: Amount.seeds)) { seed in
            ThreadedProgram(seed: seed).explored(name: "threads \(seed)")
        }
        print(result?.description ?? "")
    }

    @Test("there is an order of the calls in which the model does the same")
    func linearizable() async throws {
        let result = await explore(.uniform(seeds: Amount.seeds)) { seed in
            var threaded = ThreadedProgram(seed: seed)
            threaded = ThreadedProgram(threaded.program.orderable, seed: seed)
            return threaded.explored(name: "linearizable \(seed)")
        }
        print(result?.description ?? "")
    }
}
