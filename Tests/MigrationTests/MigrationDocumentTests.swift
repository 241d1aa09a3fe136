import Foundation
import MigrationExamplesSupport
import Testing

/// Migration.md shows regions of sources that compile and run. A comment before a code block names the region:
/// `<!-- Ported/Operations/Waiting.swift: waiting -->`.
@Suite("Migration.md")
struct MigrationDocumentTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let document = package.appending(path: "Migration.md")
    private static let sources = package.appending(path: "Sources/MigrationExamples")

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

    @Test("Every link of README.md into Migration.md finds its heading")
    func linksResolve() throws {
        let headings = try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("#") }
            .map { $0.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-") }
        let readme = try String(contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
        let links = readme.matches(of: /\(Migration\.md#([^)]*)\)/).map { String($0.1) }
        #expect(links.count >= 10)
        for link in links { #expect(headings.contains(link), "no heading \(link)") }
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
