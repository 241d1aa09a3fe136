import Foundation
import MigrationExamplesSupport
import Testing
import TourKit

@Suite("The catalogue of recipes and its source files")
struct CatalogueTests {
    /// The source files of a side that hold recipes, without their extension.
    private static func files(_ side: String) throws -> Set<String> {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder(side))
        return Set(files.map { String($0.dropLast(".swift".count)) }).subtracting([side])
    }

    private static func folder(_ side: String) -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        return package.appendingPathComponent("Sources/MigrationExamples/\(side)").standardizedFileURL.path
    }

    /// `WidthLimitedBatch` for `width-limited-batch`.
    private static func file(of recipe: String) -> String {
        recipe.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    @Test("Both sides have a file for each recipe, and no other", arguments: ["Legacy", "Ported"])
    func filesAndRecipes(side: String) throws {
        #expect(try Self.files(side) == Set(Recipe.catalogue.map { Self.file(of: $0.name) }))
    }

    @Test("Names occur once")
    func names() {
        #expect(Set(Recipe.catalogue.map(\.name)).count == Recipe.catalogue.count)
    }

    @Test(
        "The first region of a file is called as the recipe, the others after it",
        arguments: Recipe.catalogue.map(\.name), ["Legacy", "Ported"])
    func regions(recipe: String, side: String) throws {
        let path = "\(Self.folder(side))/\(Self.file(of: recipe)).swift"
        let regions = try SourceRegion.regions(in: String(contentsOfFile: path, encoding: .utf8))
        #expect(regions.first?.name == recipe)
        #expect(regions.dropFirst().allSatisfy { $0.name.hasPrefix("\(recipe)-") })
        #expect(regions.allSatisfy { !$0.code.isEmpty })
    }
}
