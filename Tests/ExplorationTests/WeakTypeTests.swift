import Exploration
import Testing

@Suite("Types with weaker orderings than sequential consistency", .serialized)
struct WeakTypeTests {
    private static let preemptions = Amount.isDeep ? 3 : 1

    @Test(
        "each type does what it says in all schedules, and with every load that is allowed",
        arguments: WeakTypePrograms.all)
    func holds(program: ExploredProgram) async throws {
        let result = await explore(.exhaustive(preemptions: Self.preemptions, limit: 1_000_000), of: program)
        if let result, Amount.isDeep { print("\(program.name): \(result)") }
        #expect(result?.isComplete ?? true)
    }

    @Test(
        "an ordering that is made weaker is noticed", .enabled(if: Amount.isDeep),
        arguments: [
            ([WeakTypePrograms.rank], "Rank.swift"), ([WeakTypePrograms.latch], "Latch.swift"),
            ([WeakTypePrograms.clock], "QueueClock.swift"),
            ([WeakTypePrograms.surroundings], "Scheduler+Surrounding.swift"),
        ])
    func negativeControls(programs: [ExploredProgram], file: String) async throws {
        let unnoticed = await onOwnThread {
            let strategy = ExplorationStrategy.exhaustive(preemptions: 2, limit: 5_000)
            let weakened = Set(programs.flatMap { $0.explore(.exhaustive(preemptions: 1)).weakenedOrderings })
            return weakened.filter { $0.file == file }.filter { weakened in
                !programs.contains { program in
                    var program = program
                    program.weakened = weakened
                    return program.explore(strategy, shrinks: false).failure != nil
                }
            }
        }
        #expect(unnoticed.isEmpty, "No program needs the whole of these orderings.")
    }
}
