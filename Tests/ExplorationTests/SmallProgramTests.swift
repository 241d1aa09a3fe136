public import Exploration
public import Testing

@Suite("Small programs, all of whose schedules with few interruptions are run", .serialized)
struct SmallProgramTests {
    private static let programs = SmallPrograms.all + BridgePrograms.all + MainActorPrograms.all + TimePrograms.all

    @Test("one interruption, everywhere", arguments: programs)
    func oneInterruption(program: ExploredProgram) async throws {
        let limit = Amount.isDeep ? 20_000 : 200
        let result = await explore(.exhaustive(preemptions: 1, limit: limit), of: program)
        if let result, Amount.isDeep { print("\(program.name): \(result)") }
    }

    @Test("weak memory", arguments: programs)
    func weakMemory(program: ExploredProgram) async throws {
        var program = program
        program.memory = .weak
        _ = await explore(.uniform(seeds: 0..<(Amount.isDeep ? 500 : 3)), of: program)
    }

    @Test(
        "two interruptions, and random priorities", .enabled(if: Amount.isDeep), arguments: programs)
    func more(program: ExploredProgram) async throws {
        let result = await explore(.exhaustive(preemptions: 2, limit: Amount.limit), of: program)
        if let result { print("\(program.name): \(result)") }
        _ = await explore(.priorities(seeds: 0..<1000, depth: 3), of: program)
    }

    /// The fault was in an interval that another thread must enter and leave.
    @Test("two interruptions of a task that joins the line of a semaphore")
    func escalatedWait() async {
        _ = await explore(.exhaustive(preemptions: 2), of: SmallPrograms.escalatedWait)
    }

    /// The fault was in an interval behind the first 200 schedules.
    @Test("one interruption of the end of an abandoned operation")
    func abandoned() async {
        _ = await explore(.exhaustive(preemptions: 1), of: TimePrograms.abandoned)
    }

    /// Programs with at most 20,000 schedules of two interruptions.
    private static let smallest = [
        SmallPrograms.addAndCancel, SmallPrograms.addLimited, SmallPrograms.addTwice, SmallPrograms.suspended,
        SmallPrograms.released, SmallPrograms.givenUp, SmallPrograms.observed, SmallPrograms.callback,
        SmallPrograms.shutDown, SmallPrograms.timeout, MainActorPrograms.cancelledThere,
    ]

    @Test("two and three interruptions, everywhere", .enabled(if: Amount.isDeep), arguments: smallest)
    func everywhere(program: ExploredProgram) async throws {
        for preemptions in 2...3 {
            let result = await explore(.exhaustive(preemptions: preemptions, limit: 20_000), of: program)
            // Handlers are interrupted, too, so some programs have more schedules of three interruptions.
            if preemptions == 2 { #expect(result?.isComplete ?? true) }
        }
    }
}

extension ExploredProgram: CustomTestStringConvertible {
    public var testDescription: String { name }
}
