import Foundation
import MigrationExamplesSupport
import TestSupport
import Testing

@testable import tour

@Suite("The catalogue of recipes and its source files", .inTurns)
struct CatalogueTests {
    private static let legacyFiles = Result { try list("Legacy") }
    private static let portedFiles = Result { try list("Ported") }

    /// Returns the source files of a side that contain recipes: the paths without folder and extension, by file name.
    private static func files(_ side: String) throws -> [String: String] {
        try (side == "Legacy" ? legacyFiles : portedFiles).get()
    }

    private static func list(_ side: String) throws -> [String: String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder(side))
        let recipes = paths.filter { $0.hasSuffix(".swift") && $0.contains("/") }
        return Dictionary(
            uniqueKeysWithValues: recipes.map { path in
                (String(path.split(separator: "/").last!.dropLast(".swift".count)), "\(folder(side))/\(path)")
            })
    }

    private static func folder(_ side: String) -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        return package.appendingPathComponent("Sources/MigrationExamples/\(side)").standardizedFileURL.path
    }

    /// Returns the file name of a recipe: `WidthLimitedBatch` for `width-limited-batch`.
    private static func file(of recipe: String) -> String {
        recipe.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Returns the further files of a whole system, for example `PhotoManagerBatches` for `photo-manager`.
    private static func furtherFiles(_ side: String, of recipe: String) throws -> [String: String] {
        let name = file(of: recipe)
        return try files(side).filter { file, path in
            path.contains("/Systems/") && file != name && file.hasPrefix(name)
        }
    }

    @Test("Both sides have a file for each recipe, and no other", arguments: ["Legacy", "Ported"])
    func filesAndRecipes(side: String) throws {
        let further = try Recipe.catalogue.flatMap { try Self.furtherFiles(side, of: $0.name).keys }
        let files = try Set(Self.files(side).keys).subtracting(further)
        #expect(files == Set(Recipe.catalogue.map { Self.file(of: $0.name) }))
    }

    @Test("Names occur once")
    func names() {
        #expect(Set(Recipe.catalogue.map(\.name)).count == Recipe.catalogue.count)
    }

    @Test(
        "The first region of a file is called as the recipe, the others after it",
        arguments: Recipe.catalogue.map(\.name), ["Legacy", "Ported"])
    func regions(recipe: String, side: String) throws {
        let path = try #require(Self.files(side)[Self.file(of: recipe)])
        let regions = try SourceRegion.regions(in: String(contentsOfFile: path, encoding: .utf8))
        #expect(regions.first?.name == recipe)
        #expect(regions.dropFirst().allSatisfy { $0.name.hasPrefix("\(recipe)-") })
        #expect(regions.allSatisfy { !$0.code.isEmpty })
        for path in try Self.furtherFiles(side, of: recipe).values {
            let further = try SourceRegion.regions(in: String(contentsOfFile: path, encoding: .utf8))
            #expect(further.allSatisfy { $0.name.hasPrefix("\(recipe)-") && !$0.code.isEmpty })
        }
    }
}
