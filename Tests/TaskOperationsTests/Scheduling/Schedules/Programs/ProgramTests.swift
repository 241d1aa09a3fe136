import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Programs with faults of public reports", .prompt, .endsInTime)
struct ProgramTests {
    @Test("A thousand schedules show the fault, and a short schedule repeats it", arguments: PlantedFault.all)
    func fault(_ program: PlantedFault) throws { try Self.find(program, .mixed) }

    @Test("Priorities alone show the fault, unless it is a deep one", arguments: PlantedFault.shallow)
    func priorities(_ program: PlantedFault) throws { try Self.find(program, .priorities()) }

    private static func find(_ program: PlantedFault, _ strategy: ScheduleStrategy) throws {
        let schedules = Schedules(1_000, strategy, of: program)
        let found = try #require(failure(of: schedules) { try await program.run(false) })
        let again = Schedules(only: found.schedule, of: program)
        #expect(failure(of: again) { try await program.run(false) } != nil)
    }

    @Test("The fault needs the environment", arguments: PlantedFault.all.filter { !$0.faults.isEmpty })
    func environment(_ program: PlantedFault) throws {
        var schedules = Schedules(1_000, of: program)
        schedules.faults = []
        #expect(throws: Never.self) { try schedules.run { try await program.run(false) } }
    }

    @Test("The mended program holds", arguments: PlantedFault.all)
    func mended(_ program: PlantedFault) throws {
        #expect(throws: Never.self) {
            try Schedules(isDeep ? 5_000 : 1_000, of: program).run { try await program.run(true) }
        }
    }
}

extension Schedules {
    fileprivate init(_ count: Int, _ strategy: ScheduleStrategy = .mixed, of program: PlantedFault) {
        self.init(count, strategy)
        faults = program.faults
        // The programs use no other threads.
        patience = .zero
    }

    fileprivate init(only schedule: String, of program: PlantedFault) {
        self.init(only: schedule)
        patience = .zero
    }
}

// MARK: - The table of the article

@Suite("The table of the article about schedules", .prompt, .endsInTime)
struct ProgramTableTests {
    /// Prints after how many schedules of each strategy, and after how many of 1,000 ordinary runs, a fault shows itself.
    @Test("Each strategy finds most faults", .enabled(if: isDeep))
    func table() async throws {
        var found = [0, 0, 0, 0]
        for program in PlantedFault.all {
            func place(_ strategy: ScheduleStrategy) -> Int? {
                failure(of: Schedules(10_000, strategy, of: program)) { try await program.run(false) }?.place.number
            }
            let places = [place(.mixed), place(.priorities()), place(.uniform), place(.exhaustive())]
            let ordinary = await firstFailure(of: program, within: 1_000)
            let cells = (places + [ordinary]).map { $0.map { "\($0)" } ?? "–" }
            print("| [\(program.name)](\(program.report)) | \(cells.joined(separator: " | ")) |")
            for (index, place) in places.enumerated() where place != nil { found[index] += 1 }
        }
        #expect(found[0] == PlantedFault.all.count)
        #expect(found[1] >= PlantedFault.shallow.count)
        #expect(found.min()! > 30)
    }

    /// The number of the first ordinary run that fails or does not end within a second.
    private func firstFailure(of program: PlantedFault, within count: Int) async -> Int? {
        for number in 1...count {
            let holds = Recorder<Bool>()
            let run = Task.detached {
                do {
                    try await program.run(false)
                    holds.record(true)
                } catch {
                    holds.record(false)
                }
            }
            _ = await eventually(within: .seconds(1)) { !holds.events.isEmpty }
            run.cancel()
            if holds.events != [true] { return number }
        }
        return nil
    }
}
