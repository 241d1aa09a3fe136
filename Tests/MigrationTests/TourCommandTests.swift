import Foundation
import MigrationExamplesSupport
import TaskOperationsTesting
import TestSupport
import Testing

@testable import tour

@Suite("The tour as a command", .inTurns, .endsInTime)
struct TourCommandTests {
    private let temporary: TemporaryFolder
    private let output = Recorder<String>()
    private let errors = Recorder<String>()

    init() throws { temporary = try TemporaryFolder() }

    private var outputText: String { output.events.joined() }
    private var errorText: String { errors.events.joined() }

    /// Runs the command over the folder. Returns its exit code.
    private func run(
        _ arguments: String..., recipes: [Recipe] = Recipe.catalogue, isTerminal: Bool = false
    ) async -> Int32 {
        let command = TourCommand(
            catalogue: recipes, console: Console(isTerminal: isTerminal) { [errors] in errors.record($0) },
            tally: Tally(of: recipes.count)
        ) { [output] in output.record($0) }
        return await command.run(arguments)
    }

    private static func recipe(_ name: String, _ legacy: String, _ ported: String) -> Recipe {
        Recipe(name, { _ in RecipeResult(legacy) }, { _ in RecipeResult(ported) })
    }

    // MARK: Results

    @Test("All recipes agree over a folder of files, with nothing on standard error")
    func agreement() async throws {
        try temporary.write("text", to: "file")
        #expect(await run(temporary.path) == 0)
        #expect(outputText.contains("\(temporary.path): 1 files, 4 bytes\n"))
        #expect(
            outputText.contains("Both sides agree in \(Recipe.catalogue.count) of \(Recipe.catalogue.count) recipes.\n")
        )
        #expect(errorText == "")
    }

    @Test("Where two sides differ the exit code is 1, and the table has both in full")
    func difference() async {
        let (legacy, ported) = (String(repeating: "x", count: 100), String(repeating: "x", count: 99) + "y")
        let recipes = [Self.recipe("same", "1", "1"), Self.recipe("other", legacy, ported)]
        #expect(await run(temporary.path, recipes: recipes) == 1)
        #expect(outputText.contains("Both sides agree in 1 of 2 recipes.\n"))
        #expect(outputText.contains("other, in full:\n  legacy  \(legacy)\n  ported  \(ported)\n"))
    }

    @Test("A side that fails agrees with none, not even with one that fails in the same way")
    func failure() async {
        struct Broken: Error {}
        let recipe = Recipe("broken", { _ in throw Broken() }, { _ in throw Broken() })
        #expect(await run(temporary.path, recipes: [recipe]) == 1)
        #expect(outputText.contains("failed: Broken()"))
    }

    @Test("A difference because of a file that changed meanwhile is pointed out")
    func changedFiles() async throws {
        try temporary.write("text", to: "file")
        let recipe = Recipe(
            "changing", { _ in RecipeResult("1") },
            { [temporary] _ in
                try temporary.write("longer text", to: "file")
                return RecipeResult("2")
            })
        #expect(await run(temporary.path, recipes: [recipe]) == 1)
        #expect(errorText.contains("tour: files changed during the tour"))
    }

    @Test("Only the recipes that are named are done, in the order of the catalogue")
    func namedRecipes() async {
        let recipes = ["one", "two", "three"].map { Self.recipe($0, "", "") }
        #expect(await run(temporary.path, "--recipe", "three", "--recipe", "one", recipes: recipes) == 0)
        #expect(outputText.contains("2 of 2"))
        #expect(!outputText.contains("two"))
    }

    // MARK: JSON

    @Test("JSON has every key of every recipe, and nothing else is on standard output")
    func json() async throws {
        try temporary.write("text", to: "file")
        #expect(await run("--json", temporary.path) == 0)
        let rows = try #require(
            try JSONSerialization.jsonObject(with: Data(outputText.utf8)) as? [[String: Any]])
        #expect(rows.map { $0["recipe"] as? String } == Recipe.catalogue.map(\.name))
        for row in rows {
            #expect(
                row.keys.sorted() == [
                    "agree", "legacy", "legacySeconds", "legacyThreads", "ported", "portedSeconds", "portedThreads",
                    "recipe",
                ])
            #expect(row["agree"] as? Bool == true)
            #expect(row["legacy"] as? String == row["ported"] as? String)
            #expect(try #require(row["legacySeconds"] as? Double) > 0)
            #expect(try #require(row["portedSeconds"] as? Double) > 0)
            #if os(Linux)
                #expect(try #require(row["legacyThreads"] as? Int) > 0)
                #expect(try #require(row["portedThreads"] as? Int) > 0)
            #endif
        }
    }

    #if os(Linux)
        @Test("A side that is done at once has used a thread all the same")
        func quickSides() async throws {
            let recipes = (0..<200).map { Self.recipe("quick \($0)", "", "") }
            #expect(await run("--json", temporary.path, recipes: recipes) == 0)
            let rows = try #require(
                try JSONSerialization.jsonObject(with: Data(outputText.utf8)) as? [[String: Any]])
            #expect(rows.count == recipes.count)
            for key in ["legacyThreads", "portedThreads"] {
                #expect(rows.allSatisfy { $0[key] is Int }, "\(key)")
            }
        }
    #endif

    @Test("Results of any kind are a string of JSON")
    func oddResults() async throws {
        let odd = "\"quoted\" \\ line\nend ü / \u{1B}"
        #expect(await run("--json", temporary.path, recipes: [Self.recipe("odd", odd, odd)]) == 0)
        let rows = try JSONSerialization.jsonObject(with: Data(outputText.utf8)) as? [[String: Any]]
        #expect(rows?.first?["legacy"] as? String == odd)
    }

    // MARK: Bad input

    @Test("Bad usage ends with 2, and the usage on standard error")
    func badUsage() async {
        #expect(await run("--fast") == 2)
        #expect(errorText == "tour: unknown option \"--fast\"\n\(Arguments.usage)\n")
        #expect(outputText == "")
    }

    @Test("A folder that cannot be read ends with 2, and one line on standard error")
    func noFolder() async {
        #expect(await run("--json", temporary / "missing") == 2)
        #expect(errorText == "tour: cannot read \(temporary / "missing"): no such file or directory\n")
        #expect(outputText == "")
    }

    @Test("Each unreadable file is one line on standard error, however many sides meet it")
    func unreadableFiles() async throws {
        try temporary.write("text", to: "file")
        try temporary.write("text", to: "vanishes")
        _ = try temporary.makeUnreadableEntries()
        let vanishing = Recipe(
            "vanishing",
            { [temporary] _ in
                try temporary.remove("vanishes")
                return RecipeResult("")
            }, { _ in RecipeResult("") })
        #expect(await run(temporary.path, recipes: [vanishing] + Recipe.catalogue) == 0, "\(outputText)")
        #expect(
            errors.events == [
                "tour: cannot read \(temporary / "dangling"): it is a link that leads nowhere\n",
                "tour: cannot read \(temporary / "loop1"): too many levels of symbolic links\n",
                "tour: cannot read \(temporary / "loop2"): too many levels of symbolic links\n",
                "tour: cannot read \(temporary / "pipe"): it is a pipe, not a file\n",
                "tour: cannot read \(temporary / "vanishes"): no such file or directory\n",
            ])
    }

    @Test("Output that cannot be written ends with 2")
    func brokenOutput() async {
        struct Broken: Error {}
        let command = TourCommand(
            catalogue: [], console: Console(isTerminal: false) { [errors] in errors.record($0) }, tally: Tally(of: 0)
        ) { _ in throw Broken() }
        #expect(await command.run(["--list"]) == 2)
        #expect(errorText == "tour: Broken()\n")
    }

    // MARK: Other commands

    @Test("The list has a name a line")
    func list() async {
        #expect(await run("--list", recipes: ["one", "two"].map { Self.recipe($0, "", "") }) == 0)
        #expect(outputText == "one\ntwo\n")
    }

    @Test("Help is on standard output")
    func help() async {
        #expect(await run("--help") == 0)
        #expect(outputText == Arguments.usage + "\n")
    }

    @Test("With no folder it is the sources of this package")
    func defaultFolder() async {
        #expect(await run(recipes: [Self.recipe("one", "", "")]) == 0)
        #expect(outputText.contains("/Sources: "))
    }

    // MARK: Progress

    @Test("A terminal sees which side of which recipe is done, and nothing of it is left at the end")
    func progress() async {
        #expect(await run(temporary.path, recipes: [Self.recipe("one", "", "")], isTerminal: true) == 0)
        #expect(errorText.contains(/1 of 1, one, legacy, \d+ s/))
        #expect(errorText.contains(/1 of 1, one, ported, \d+ s/))
        #expect(errors.events.last == "\r\u{1B}[K")
    }

    // MARK: Interruption

    @Test(
        "An interrupted tour shows what was done both ways, says how far it came, and ends with 130",
        arguments: ["legacy", "ported"], [true, false])
    func interruption(side: String, asJSON: Bool) async throws {
        let gate = Gate()
        let waiting = Recipe(
            "waiting",
            { input in
                guard side == "legacy" else { return RecipeResult("") }
                let cancelled = DispatchSemaphore(value: 0)
                input.cancellation.onCancel { cancelled.signal() }
                Task { await gate.pass() }
                cancelled.wait()
                throw CancellationError()
            },
            { _ in
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    gate.open()
                }
                return RecipeResult("")
            })
        let recipes = [Self.recipe("first", "", ""), waiting, Self.recipe("last", "", "")]
        let path = temporary.path
        let tour = Task { await asJSON ? run("--json", path, recipes: recipes) : run(path, recipes: recipes) }
        await gate.waitForArrivals(1)
        tour.cancel()
        #expect(await tour.value == 130)
        gate.open()
        #expect(errors.events.last == "tour: interrupted, 1 of 3 recipes done\n")
        #expect(outputText.contains("first"))
        #expect(!outputText.contains("waiting"))
        if asJSON { #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(outputText.utf8)) } }
    }

    @Test("A tour that is interrupted while it lists the files ends with 130 too")
    func interruptionOfListing() async throws {
        try temporary.write("text", to: "file")
        let path = temporary.path
        let tour = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await run("--json", path)
        }
        #expect(await tour.value == 130)
        #expect(errorText == "tour: interrupted, 0 of \(Recipe.catalogue.count) recipes done\n")
        #expect(outputText == "[\n\n]\n" || outputText == "[]\n")
    }
}
