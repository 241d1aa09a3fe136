import Foundation
import MigrationExamplesSupport
import TestSupport
import Testing

@testable import tour

@Suite("Every recipe, both ways", .inTurns, .endsInTime)
struct RecipeTests {
    private static let rounds = isDeep ? 2 : 1

    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    /// Runs both sides on the current contents of the folder.
    private func results(of recipe: Recipe) async throws -> (legacy: RecipeResult, ported: RecipeResult) {
        let input = RecipeInput(try InputFolder(listing: temporary.path))
        return (try await recipe.runLegacy(input), try await recipe.ported(input))
    }

    /// Writes files of several sizes: empty files, small files, a file of several chunks, and one that is larger than a
    /// piece.
    private func writeFiles() throws {
        for number in 0..<40 {
            let contents = (0..<number * number * 7).map { UInt8(truncatingIfNeeded: $0 &* number) }
            try temporary.write(contents, to: "folder \(number % 3)/file \(number)")
        }
        try temporary.write([UInt8](repeating: 7, count: 600_000), to: "large")
    }

    @Test("Both sides agree, again and again", arguments: Recipe.catalogue)
    func agreement(recipe: Recipe) async throws {
        try writeFiles()
        let first = try await recipe.runLegacy(RecipeInput(InputFolder(listing: temporary.path)))
        for _ in 0..<Self.rounds {
            let (legacy, ported) = try await results(of: recipe)
            #expect(legacy.text == first.text)
            #expect(ported.text == first.text)
            #expect(legacy.unreadable.isEmpty && ported.unreadable.isEmpty)
        }
    }

    @Test("Both sides agree on a folder of no file, of one, and of two", arguments: Recipe.catalogue, 0...2)
    func fewFiles(recipe: Recipe, count: Int) async throws {
        for number in 0..<count { try temporary.write("line\n", to: "file \(number)") }
        let (legacy, ported) = try await results(of: recipe)
        #expect(legacy.text == ported.text)
    }

    @Test("Both sides agree where files are gone, or are none any more, after the listing", arguments: Recipe.catalogue)
    func vanishedFiles(recipe: Recipe) async throws {
        try writeFiles()
        let input = RecipeInput(try InputFolder(listing: temporary.path))
        try temporary.remove("folder 0/file 3")
        try temporary.remove("folder 1/file 4")
        try temporary.makePipe("folder 1/file 4")
        let (legacy, ported) = (try await recipe.runLegacy(input), try await recipe.ported(input))
        #expect(legacy.text == ported.text)
        #expect(Set(legacy.unreadable) == Set(ported.unreadable))
    }

    @Test("Both sides agree on an empty folder", arguments: Recipe.overFiles)
    func emptyFolder(recipe: Recipe) async throws {
        let (legacy, ported) = try await results(of: recipe)
        #expect(legacy.text == ported.text)
        #expect(legacy.text.contains("0 files, 0 bytes, sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca"))
    }

    @Test("Both sides agree where no file has anything in it", arguments: Recipe.overFiles)
    func emptyFiles(recipe: Recipe) async throws {
        for number in 0..<5 { try temporary.write("", to: "file \(number)") }
        let (legacy, ported) = try await results(of: recipe)
        #expect(legacy.text == ported.text)
        #expect(legacy.text.contains("5 files, 0 bytes"))
    }

    @Test("Both sides tell of the same unreadable files, and do the others", arguments: Recipe.overFiles)
    func unreadableFiles(recipe: Recipe) async throws {
        try temporary.write("a", to: "a")
        try temporary.write("replaced after the listing", to: "replaced")
        try temporary.write("vanishes after the listing", to: "vanishes")
        _ = try temporary.makeUnreadableEntries()
        let input = RecipeInput(try InputFolder(listing: temporary.path))
        try temporary.remove("vanishes")
        try temporary.remove("replaced")
        try temporary.makePipe("replaced")

        let (legacy, ported) = (try await recipe.runLegacy(input), try await recipe.ported(input))
        #expect(legacy.text == ported.text)
        #expect(legacy.text.contains("1 files, 1 bytes, 2 unreadable"))
        let problems = [temporary / "replaced", temporary / "vanishes"]
        #expect(legacy.unreadable.map(\.path).sorted() == problems)
        #expect(ported.unreadable.map(\.path).sorted() == problems)
    }

    @Test("A side that is cancelled before it begins ends by a CancellationError", arguments: Recipe.overFiles)
    func cancelledBefore(recipe: Recipe) async throws {
        try writeFiles()
        let input = RecipeInput(try InputFolder(listing: temporary.path))
        input.cancellation.cancel()
        await #expect(throws: CancellationError.self) { try await recipe.runLegacy(input) }
        let ported = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await recipe.ported(input)
        }
        await #expect(throws: CancellationError.self) { try await ported.value }
    }

    @Test("Cancelling both sides at work ends them long before a huge file is read", arguments: Recipe.overFiles)
    func cancelledAtWork(recipe: Recipe) async throws {
        // Digesting one of these files takes minutes, and at most 4 are digested at a time. A sample of one file is
        // quick to read, but the samples of all files together are not.
        for number in 0..<200 { try temporary.writeZeros(20_000_000_000, to: "file \(number)") }
        let input = RecipeInput(try InputFolder(listing: temporary.path))
        let opening = try FileOpening(in: temporary.path)
        let legacy = Task { try await recipe.runLegacy(input) }
        let ported = Task { try await recipe.ported(input) }
        // A thread is used, because digesting may occupy all threads of the pool.
        Thread.detachNewThread {
            opening.wait()
            input.cancellation.cancel()
            ported.cancel()
        }
        await #expect(throws: CancellationError.self) { try await legacy.value }
        await #expect(throws: CancellationError.self) { try await ported.value }
    }
}

@Suite("Results of the recipes", .inTurns, .endsInTime)
struct RecipeResultTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func texts(of name: String) async throws -> [String] {
        let recipe = try #require(Recipe.catalogue.first { $0.name == name })
        let input = RecipeInput(try InputFolder(listing: temporary.path))
        return [try await recipe.runLegacy(input).text, try await recipe.ported(input).text]
    }

    @Test(
        "The digest of the digests is that of what sha256sum prints",
        arguments: [
            "width-limited-batch", "dependency-graph",
        ])
    func digests(name: String) async throws {
        try temporary.write("abc", to: "folder/b")
        try temporary.write("", to: "a")
        let lines = """
            e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a
            ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  folder/b

            """
        let text = "2 files, 3 bytes, sha256 \(SHA256.digest(of: Array(lines.utf8)))"
        #expect(try await texts(of: name) == [text, text])
    }

    @Test("The recipes' results for a few files are right", arguments: RecipeText.all)
    func texts(expected: RecipeText) async throws {
        try temporary.write("1\n2\n", to: "a")
        try temporary.write("3\n", to: "b")
        try temporary.write([0, 10], to: "binary")
        try temporary.write("", to: "empty")
        #expect(try await texts(of: expected.recipe) == [expected.text, expected.text])
    }

    @Test("A port whose caller is cancelled early throws, and returns no partial result", arguments: ["custom-source"])
    func cancelledCaller(name: String) async throws {
        for number in 0..<3 { try temporary.write("line\n", to: "file \(number)") }
        let recipe = try #require(Recipe.catalogue.first { $0.name == name })
        let input = RecipeInput(try InputFolder(listing: temporary.path))
        let ported = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await recipe.ported(input)
        }
        await #expect(throws: CancellationError.self) { try await ported.value }
    }

    @Test("The downloads stop in the middle of the largest, and later ones never start")
    func downloads() async throws {
        for number in 0..<7 { try temporary.write("file \(number)", to: "file \(number)") }
        try temporary.write([UInt8](repeating: 0, count: 5 * 4096), to: "largest")
        let texts = try await texts(of: "cancelled-downloads")
        for text in texts {
            #expect(text.hasPrefix("4 not started, stopped after 3 of 5 chunks, 3 files, 18 bytes, sha256 "))
        }
        #expect(texts[0] == texts[1])
    }
}

/// The result of a recipe for four files: one of two lines, one of one line, one of a zero byte and a line end, and an
/// empty one.
struct RecipeText: CustomTestStringConvertible {
    let recipe: String
    let text: String

    var testDescription: String { recipe }

    static let all = [
        RecipeText(recipe: "many-blocks", text: "4 blocks, 4 lines"),
        RecipeText(recipe: "invocation-operation", text: "4 files, 4 lines, 1 cancelled"),
        RecipeText(recipe: "asynchronous-subclass", text: "4 loaded, 8 bytes, 4 lines"),
        RecipeText(recipe: "cancelling-in-loop", text: "stopped after 2 of 4 files, 3 lines"),
        RecipeText(recipe: "cancelling-network-call", text: "3 loaded, 1 cancelled, 1 told"),
        RecipeText(recipe: "state-machine", text: "waiting, 4 files, executing, 4 lines, finished"),
        RecipeText(recipe: "observing-states", text: "cancelled, executing, 4 files, finished"),
        RecipeText(recipe: "cross-queue-dependencies", text: "4 lines"),
        RecipeText(recipe: "dependency-cycle", text: "0 of 2 steps with the cycle, 2 of 2 steps without it"),
        RecipeText(recipe: "quality-of-service", text: "4 urgent, 4 lines"),
        RecipeText(recipe: "passing-results", text: "3 of 4 files, 4 lines"),
        RecipeText(recipe: "errors", text: "3 lines, 1 not text, 0 unreadable"),
        RecipeText(recipe: "starting-by-hand", text: "not ready, 4 files, 4 lines, cancelled, and finished"),
        RecipeText(recipe: "adding-operations", text: "6, waited for 2"),
        RecipeText(recipe: "serial-queue", text: "4 lines, last empty: 0"),
        RecipeText(recipe: "thread-pool", text: "4 lines, 5 at once at most"),
        RecipeText(recipe: "cancelling", text: "1 cancelled, 4 cancelled"),
        RecipeText(recipe: "suspension", text: "4 wait, 4, 2, 2, 1 wait, 0"),
        RecipeText(recipe: "work-size", text: "100 roots, sum 100"),
        RecipeText(recipe: "batches", text: "4 lines, 32 at once at most"),
        RecipeText(recipe: "releasing-operations", text: "4 kept, 4 lines, 0 buffers alive"),
        RecipeText(recipe: "progress", text: "4 of 4 files, 4 lines"),
        RecipeText(recipe: "operation-conditions", text: "3 of 4 done, 3 went on, free, held"),
        RecipeText(recipe: "retry-operation", text: "8 bytes, 12 attempts, performed 3 times"),
        RecipeText(recipe: "dependencies", text: "4 files, 8 bytes, after 2 steps, 4 changes, 0 left"),
        RecipeText(recipe: "once", text: "8 bytes, computations: 1, by hand: 2"),
    ]
}

extension Recipe {
    /// The recipes that read every file of the folder and stop when they are cancelled.
    static let overFiles = catalogue.filter {
        ["width-limited-batch", "dependency-graph", "cancelled-downloads"].contains($0.name)
    }

    /// Runs the legacy side on a separate thread.
    func runLegacy(_ input: RecipeInput) async throws -> RecipeResult {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try legacy(input) }) }
        }
    }
}

extension Recipe: CustomTestStringConvertible {
    public var testDescription: String { name }
}
