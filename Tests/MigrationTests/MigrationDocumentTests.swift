import Foundation
import MigrationExamplesSupport
import Testing
import TourKit

/// Migration.md shows regions of sources that compile and run. A comment before a code block names the region:
/// `<!-- Ported/Operations/Waiting.swift: waiting -->`.
@Suite("Migration.md")
struct MigrationDocumentTests {
    private static let document = MigrationDocument.package.appending(path: "Migration.md")
    private static let sources = MigrationDocument.package.appending(path: "Sources/MigrationExamples")

    @Test("Every code block is its region. To rewrite them: TASK_OPERATIONS_REWRITE=1 swift test --filter Migration.md")
    func codeBlocksAreRegions() throws {
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        let rewritten = try Self.rewritten(text)
        if ProcessInfo.processInfo.environment["TASK_OPERATIONS_REWRITE"] != nil {
            try rewritten.write(to: Self.document, atomically: true, encoding: .utf8)
        } else {
            #expect(text == rewritten)
        }
    }

    @Test("Every region of the recipes is shown")
    func everyRegionIsShown() throws {
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        for path in try Self.recipePaths() {
            let source = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
            for region in try SourceRegion.regions(in: source) {
                #expect(text.contains("<!-- \(path): \(region.name) -->"))
            }
        }
    }

    @Test("Every recipe has one section, and every section that shows code one recipe")
    func recipesAndSections() throws {
        let names = Set(Recipe.catalogue.map(\.name))
        let shown = try MigrationDocument().recipes.map { section in
            Set(section.regions.map { String($0.name) }.filter(names.contains))
        }
        for names in shown { #expect(names.count == 1) }
        #expect(shown.flatMap { $0 }.sorted() == names.sorted())
    }

    @Test("Every recipe is told in all its parts, and both sides are shown where they belong")
    func parts() throws {
        let parts = [
            "**When you have this.**", "Before:", "<!-- Legacy/", "After:", "<!-- Ported/", "**What changes.**",
            "**In steps.**", "**Pitfalls.**",
        ]
        for section in try MigrationDocument().recipes {
            var rest = section.text[...]
            for part in parts {
                let range = rest.firstRange(of: part)
                #expect(range != nil, "\(section.title) has no \(part), or not in its place")
                if let range { rest = rest[range.upperBound...] }
            }
        }
    }

    @Test("How to choose leads to every recipe")
    func choice() throws {
        let document = try MigrationDocument()
        let choice = try #require(document.sections.first { $0.title == "How to choose" })
        for recipe in document.recipes {
            #expect(choice.text.contains("](#\(recipe.anchor))"), "no row for \(recipe.title)")
        }
    }

    @Test("Every link within the package finds its file and its heading", arguments: ["README.md", "Migration.md"])
    func linksResolve(name: String) throws {
        let links = try MigrationDocument(name).links.filter { !$0.contains("://") }
        #expect(links.count >= 10)
        for link in links {
            let parts = link.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
            let target = parts[0].isEmpty ? name : parts[0]
            let path = MigrationDocument.package.appending(path: target).path
            #expect(FileManager.default.fileExists(atPath: path), "no file \(target)")
            guard parts.count == 2 else { continue }
            let anchors = try MigrationDocument(target).sections.map(\.anchor)
            #expect(anchors.contains(parts[1]), "no heading \(link)")
        }
    }

    @Test("No two headings of Migration.md are called alike, so that links are plain")
    func headings() throws {
        let anchors = try MigrationDocument().sections.map(\.anchor)
        #expect(Set(anchors).count == anchors.count)
    }

    /// The source files of both sides' recipes, as `Ported/Operations/Waiting.swift`.
    private static func recipePaths() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted().filter {
            $0.hasSuffix(".swift") && $0.wholeMatch(of: /(?:Legacy|Ported)\/\w+\/\w+\.swift/) != nil
        }
    }

    /// The document with every block as its region is now.
    private static func rewritten(_ text: String) throws -> String {
        var result: [Substring] = []
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while let line = lines.popFirst() {
            result.append(line)
            guard let reference = line.wholeMatch(of: /<!-- ((?:Legacy|Ported)\/\w+\/\w+\.swift): ([\w-]+) -->/) else {
                continue
            }
            try #require(lines.popFirst() == "```swift", "no code block after \(line)")
            while let old = lines.popFirst(), old != "```" {}
            let source = try String(contentsOf: sources.appending(path: reference.1), encoding: .utf8)
            let region = try SourceRegion.regions(in: source).first { $0.name == reference.2 }
            let code = try #require(region, "no region \(reference.2) in \(reference.1)").code
            result += ["```swift"] + code.split(separator: "\n", omittingEmptySubsequences: false) + ["```"]
        }
        return result.joined(separator: "\n")
    }
}
