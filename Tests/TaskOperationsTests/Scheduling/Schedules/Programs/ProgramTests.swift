import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Programs with faults of public reports", .prompt, .timeLimit(.minutes(120)))
struct ProgramTests {
    @Test("A thousand schedules show the fault, and a short schedule repeats it", arguments: PlantedFault.all)
    func fault(_ program: PlantedFault) throws {
        #expect(failure(of: Self.schedules(1_000)) { try await program.run(false) } != nil)
        let found = try #require(failure(of: Self.schedules(1_000, .priorities())) { try await program.run(false) })
        #expect(failure(of: Self.schedules(only: found.schedule)) { try await program.run(false) } != nil)
    }

    @Test("The mended program holds", arguments: PlantedFault.all)
    func mended(_ program: PlantedFault) throws {
        #expect(throws: Never.self) {
            try Self.schedules(isDeep ? 100_000 : 200).run { try await program.run(true) }
        }
    }

    private static func schedules(_ count: Int, _ strategy: ScheduleStrategy = .mixed) -> Schedules {
        var schedules = Schedules(count, strategy)
        // The programs use no other threads.
        schedules.patience = .zero
        return schedules
    }

    private static func schedules(only text: String) -> Schedules {
        var schedules = Schedules(only: text)
        schedules.patience = .zero
        return schedules
    }
}

// MARK: - The table of the article

@Suite("The table of the article about schedules", .prompt, .timeLimit(.minutes(120)))
struct ProgramTableTests {
    /// Prints after how many schedules of each strategy, and after how many of 1,000 ordinary runs, a fault shows itself.
    @Test("Each strategy finds most faults", .enabled(if: isDeep))
    func table() async throws {
        var found = [0, 0, 0, 0]
        for program in PlantedFault.all {
            func place(_ strategy: ScheduleStrategy) -> Int? {
                var schedules = Schedules(10_000, strategy)
                schedules.patience = .zero
                return failure(of: schedules) { try await program.run(false) }?.place.number
            }
            let places = [place(.mixed), place(.priorities()), place(.uniform), place(.exhaustive())]
            let ordinary = await firstFailure(of: program, within: 1_000)
            let cells = (places + [ordinary]).map { $0.map { "\($0)" } ?? "–" }
            print("| [\(program.name)](\(program.report)) | \(cells.joined(separator: " | ")) |")
            for (index, place) in places.enumerated() where place != nil { found[index] += 1 }
        }
        #expect(found[...1] == [PlantedFault.all.count, PlantedFault.all.count])
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
