public import Exploration
public import Testing

@Suite("Small programs, all of whose schedules with few interruptions are run", .serialized)
struct SmallProgramTests {
    @Test("one interruption, everywhere", arguments: SmallPrograms.all)
    func oneInterruption(program: ExploredProgram) async throws {
        let start = ContinuousClock.now
        let result = await explore(.exhaustive(preemptions: Amount.isDeep ? 2 : 1, limit: 10_000), of: program)
        print(program.name, result?.description ?? "", ContinuousClock.now - start)
        #expect(result?.isComplete ?? true)
    }
}

extension ExploredProgram: CustomTestStringConvertible {
    public var testDescription: String { name }
}
