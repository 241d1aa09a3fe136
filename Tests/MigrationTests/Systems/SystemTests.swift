import Foundation
import MigrationExamplesSupport
import TestSupport
import Testing

@testable import tour

@Suite("The whole systems over all kinds of folders", .inTurns, .prompt, .endsInTime)
struct SystemTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func input() throws -> RecipeInput { RecipeInput(try InputFolder(listing: temporary.path)) }

    /// Runs both sides, and expects equal results.
    private func result(of recipe: Recipe, _ input: RecipeInput) async throws -> RecipeResult {
        let legacy = try await recipe.runLegacy(input)
        let ported = try await recipe.ported(input)
        #expect(legacy.text == ported.text)
        #expect(Set(legacy.unreadable) == Set(ported.unreadable))
        return legacy
    }

    @Test("Both sides agree on an empty folder", arguments: Recipe.systems)
    func emptyFolder(recipe: Recipe) async throws {
        _ = try await result(of: recipe, input())
    }

    @Test("Both sides agree on one file", arguments: Recipe.systems)
    func oneFile(recipe: Recipe) async throws {
        try temporary.write("one", to: "one")
        _ = try await result(of: recipe, input())
    }

    @Test("Both sides agree on empty files, huge ones, and strange names", arguments: Recipe.systems)
    func oddFiles(recipe: Recipe) async throws {
        for name in ["empty", "with space", "per%cent %41", "Übung/日本 🎫", "query?#[x]", "tab\tand\nline"] {
            try temporary.write(name == "empty" ? "" : name, to: name)
        }
        for number in 0..<5 { try temporary.writeZeros(20_000_000_000, to: "huge \(number)") }
        let result = try await result(of: recipe, input())
        #expect(result.unreadable.isEmpty)
    }

    @Test("Both sides report the same unreadable files, and process the others", arguments: Recipe.systems)
    func unreadableFiles(recipe: Recipe) async throws {
        for name in ["a", "b", "replaced", "vanishes", "z"] { try temporary.write(name, to: name) }
        let input = try input()
        try temporary.remove("vanishes")
        try temporary.remove("replaced")
        try temporary.makePipe("replaced")
        _ = try await result(of: recipe, input)
    }

    @Test("A side that is cancelled before it begins ends by a CancellationError", arguments: Recipe.systems)
    func cancelledBefore(recipe: Recipe) async throws {
        for number in 0..<10 { try temporary.write("\(number)", to: "\(number)") }
        let input = try input()
        input.cancellation.cancel()
        await #expect(throws: CancellationError.self) { try await recipe.runLegacy(input) }
        let ported = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await recipe.ported(input)
        }
        await #expect(throws: CancellationError.self) { try await ported.value }
    }

    @Test("Both sides have the promised results")
    func promises() async throws {
        for number in 0..<10 { try temporary.write([UInt8](repeating: 1, count: number * 1000), to: "file \(number)") }
        let texts = [
            "image-downloader": """
            18 answers, 0 unwanted, progress complete, answers in order, 9 downloads, 0 left running, \
            last in first out [5, 4, 3, 2, 1, 0], by priority [2, 5, 1, 4, 0, 3], \
            8 bytes of a path, no URL: true
            """,
            "photo-manager": """
            told of 11 photos, 11 still downloading, loop 10 of 11 and an error, groupWaited 10 of 11 and an error, groupNotified 10 of 11 and an error, \
            applied 10 of 11 and an error, prompt share photos
            """,
            "ticket-office": "10 sold, 0 twice, 0 left, without care 2 of 1",
            "download-operation": "3 files, 12000 bytes",
            "crawler": "each once, within the limits, at the rate",
            "tenants": "10 files, 45000 bytes",
        ]
        for recipe in Recipe.systems {
            let text = try #require(texts[recipe.name])
            #expect(try await result(of: recipe, input()).text.contains(text))
        }
    }
}

extension Recipe {
    /// The recipes that are whole systems.
    fileprivate static let systems = catalogue.filter {
        [
            "image-downloader", "photo-manager", "ticket-office", "download-operation", "crawler", "tenants",
        ].contains($0.name)
    }
}
