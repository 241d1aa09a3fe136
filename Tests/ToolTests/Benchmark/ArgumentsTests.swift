import TestSupport
import Testing

@testable import benchmark

@Suite("Benchmark: arguments", .inTurns)
struct ArgumentsTests {
    @Test("Without arguments the quick cases are measured at their size, in as many rounds as fit")
    func defaults() throws {
        let arguments = try Arguments([])
        #expect(arguments.cases.map(\.title) == Catalogue.quickCases.map(\.title))
        #expect(arguments.secondsPerSubject == 1)
        #expect(arguments.scale == 1)
        #expect(arguments.rounds == nil)
        #expect(arguments.subjects == nil)
    }

    @Test("With --all every case is measured in all rounds, and so is a named case")
    func all() throws {
        let arguments = try Arguments(["--all"])
        #expect(arguments.cases.count == Catalogue.cases.count)
        #expect(arguments.secondsPerSubject == nil)
        #expect(try Arguments(["--case", "growth"]).secondsPerSubject == nil)
        #expect(try Arguments(["--rounds", "3"]).secondsPerSubject == nil)
    }

    @Test("Each option is read")
    func options() throws {
        let arguments = try Arguments([
            "--case", "chain,growth", "--subject", "Task", "--scale", "0.5", "--rounds", "7", "--json", "a.json",
            "--markdown", "--chart", "a.svg",
        ])
        #expect(Set(arguments.cases.map(\.name)) == ["chain", "growth"])
        #expect(arguments.subjects == [.task])
        #expect(arguments.scale == 0.5)
        #expect(arguments.rounds == 7)
        #expect(arguments.isMarkdown)
        #expect(arguments.jsonPath == "a.json")
        #expect(arguments.chartPath == "a.svg")
    }

    @Test("A comparison has two executables, and hands the options of measurements on to both")
    func comparison() throws {
        let arguments = try Arguments([
            "--compare", "old", "new", "--case", "chain,growth", "--subject", "Task", "--scale", "0.5", "--rounds", "7",
            "--pairs", "12",
        ])
        guard case .compare("old", "new") = arguments.action else {
            Issue.record("The option is not read.")
            return
        }
        #expect(arguments.pairs == 12)
        #expect(
            arguments.measuringOptions == [
                "--case", "chain,growth", "--subject", "Task", "--scale", "0.5", "--rounds", "7",
            ])
        #expect(try Arguments(["--all", "--compare", "old", "new"]).measuringOptions == ["--all"])
        #expect(try Arguments(["--compare", "old", "new"]).pairs == nil)
    }

    @Test("The usage explains each option")
    func usage() throws {
        let error = #expect(throws: ArgumentError.self) { try Arguments(["--none"]) }
        let options = try #require(error).description.split(separator: " ").filter { $0.hasPrefix("--") }.dropFirst()
        #expect(options.count > 10)
        for option in options where option != "--help" { #expect(Arguments.usage.contains("\n  \(option)")) }
    }

    @Test(
        "What cannot be followed is refused in one line that says what is allowed",
        arguments: [
            (["--case", "none"], "independent-batch"), (["--case"], "needs a value"), (["--case", ","], "growth"),
            (["--subject", "none"], "TaskGroup-next"), (["--scale", "0"], "above 0"), (["--scale", "x"], "above 0"),
            (["--rounds", "0"], "1 to 1000"), (["--rounds", "1.5"], "1 to 1000"),
            (["--json", "--list"], "needs a value"),
            (["--all", "--case", "chain"], "together"), (["--chart", "a.svg"], "growth"),
            (["--fast"], "--markdown"), (["chain"], "--case"), (["--case", "chain", "--chart", "a.svg"], "growth"),
            (["--compare", "old"], "needs a value"), (["--compare", "--case", "chain"], "needs a value"),
            (["--compare", "old", "new", "--pairs", "5"], "from 6"), (["--pairs", "10"], "--compare"),
            (["--compare", "old", "new", "--json", "a.json"], "table"),
        ])
    func refusal(words: [String], hint: String) {
        let error = #expect(throws: ArgumentError.self) { try Arguments(words) }
        #expect(error?.description.contains(hint) == true)
        #expect(error?.description.contains("\n") == false)
    }
}
