import Testing

@testable import benchmark

@Suite("Benchmark: arguments")
struct ArgumentsTests {
    @Test("Without arguments every case is measured at its size")
    func defaults() throws {
        let arguments = try Arguments([])
        #expect(arguments.cases.count == Catalogue.cases.count)
        #expect(arguments.scale == 1)
        #expect(arguments.rounds == nil)
        #expect(arguments.subjects == nil)
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

    @Test(
        "What cannot be followed is refused in one line that says what is allowed",
        arguments: [
            (["--case", "none"], "independent-batch"), (["--case"], "needs a value"), (["--case", ","], "growth"),
            (["--subject", "none"], "TaskGroup-next"), (["--scale", "0"], "above 0"), (["--scale", "x"], "above 0"),
            (["--rounds", "0"], "1 to 1000"), (["--rounds", "1.5"], "1 to 1000"),
            (["--json", "--list"], "needs a value"),
            (["--fast"], "--markdown"), (["chain"], "--case"), (["--case", "chain", "--chart", "a.svg"], "growth"),
        ])
    func refusal(words: [String], hint: String) {
        let error = #expect(throws: ArgumentError.self) { try Arguments(words) }
        #expect(error?.description.contains(hint) == true)
        #expect(error?.description.contains("\n") == false)
    }
}
