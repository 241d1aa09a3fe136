import Foundation
import MigrationExamplesSupport
import TestSupport
import Testing

@testable import tour

/// Migration.md and the pages of the recipes show regions of sources that compile and run. A comment before a code
/// block names the region: `<!-- Ported/Operations/Waiting.swift: waiting -->`. A comment before a diff names the regions
/// of both sides: `<!-- diff: Operations/Waiting.swift: waiting -->`.
@Suite("The guide", .inTurns)
struct MigrationDocumentTests {
    private static let sources = MigrationDocument.package.appending(path: "Sources/MigrationExamples")

    @Test(
        "Every code block is its region. To rewrite them: TASK_OPERATIONS_REWRITE=1 swift test --filter MigrationTests")
    func codeBlocksAreRegions() throws {
        for path in try MigrationDocument.paths {
            let text = try MigrationDocument(path).text
            let rewritten = try Self.withDiffs(Self.rewritten(text))
            if ProcessInfo.processInfo.environment["TASK_OPERATIONS_REWRITE"] != nil {
                guard text != rewritten else { continue }
                let file = MigrationDocument.package.appending(path: path)
                try rewritten.write(to: file, atomically: true, encoding: .utf8)
            } else {
                #expect(text == rewritten, "\(path)")
            }
        }
    }

    @Test("Every region of the recipes is shown on a page")
    func everyRegionIsShown() throws {
        let shown = try Set(
            MigrationDocument.recipePaths.flatMap { path in
                try MigrationDocument(path).regions.map { "\($0.side)/\($0.file): \($0.name)" }
            })
        for path in try Self.sourcePaths() {
            let source = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
            for region in try SourceRegion.regions(in: source) { #expect(shown.contains("\(path): \(region.name)")) }
        }
    }

    @Test("Every recipe has one page, in the folder of its family, and every page one recipe")
    func recipesAndPages() throws {
        let names = Set(Recipe.catalogue.map(\.name))
        var shown: [String] = []
        for path in try MigrationDocument.recipePaths {
            let document = try MigrationDocument(path)
            let recipes = Set(document.regions.map { String($0.name) }.filter(names.contains))
            #expect(recipes.count == 1, "\(path) shows \(recipes)")
            shown += recipes
            let family = path.split(separator: "/").dropLast().last!
            #expect(document.regions.allSatisfy { $0.file.hasPrefix("\(family)/") }, "\(path)")
        }
        #expect(shown.sorted() == names.sorted())
    }

    @Test("Every recipe is told in all its parts, and both sides are shown where they belong")
    func parts() throws {
        let parts = [
            "**When you have this.**", "As a diff:", "<!-- diff: ", "**What changes.**", "**In steps.**",
            "**Pitfalls.**",
        ]
        for path in try MigrationDocument.recipePaths {
            let document = try MigrationDocument(path)
            #expect(document.sections.map(\.level) == [1], "\(path)")
            var rest = document.text[...]
            for part in parts {
                let range = rest.firstRange(of: part)
                #expect(range != nil, "\(path) has no \(part), or not in its place")
                if let range { rest = rest[range.upperBound...] }
            }
        }
    }

    @Test("A page can be read at one sitting, and the guide too")
    func lengths() throws {
        for path in try MigrationDocument.recipePaths {
            let lines = try MigrationDocument(path).text.split(separator: "\n", omittingEmptySubsequences: false).count
            #expect((30...132).contains(lines - 1), "\(path) has \(lines - 1) lines")
        }
        let lines = try MigrationDocument().text.split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(lines - 1 <= 400)
    }

    @Test("A page names the modules that its port imports beside the library")
    func imports() throws {
        for path in try MigrationDocument.recipePaths {
            let document = try MigrationDocument(path)
            let sources = document.links.map { document.target(of: $0).path }.filter { $0.contains("/Ported/") }
            for source in sources {
                let text = try String(contentsOf: MigrationDocument.package.appending(path: source), encoding: .utf8)
                let modules = [
                    "Synchronization", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
                ]
                for module in modules where text.contains("import \(module)\n") {
                    #expect(document.text.contains("`\(module)`"), "\(path) does not name \(module)")
                }
            }
        }
    }

    @Test("A page explains the helpers of its snippets before the first snippet")
    func helpers() throws {
        let folder = Self.sources.appending(path: "Support")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let helpers = try files.flatMap { file in
            let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            return source.matches(of: /(?m)^public (?:final )?(?:class|struct|actor) (\w+)/).map { String($0.1) }
        }
        #expect(helpers.contains("Journal"))
        for path in try MigrationDocument.paths where path != "README.md" {
            let document = try MigrationDocument(path)
            guard !document.regions.isEmpty else { continue }
            let introduction = document.text.prefix(
                upTo: document.text.firstRange(of: /```(swift|diff)/)!.lowerBound)
            for helper in helpers + ["input"] where try document.code.contains(Regex("\\b\(helper)\\b")) {
                let isTold = try introduction.contains(Regex("`\(helper)[`.]"))
                #expect(isTold, "\(path) does not say what \(helper) is")
            }
        }
    }

    /// Returns the source files of both sides' recipes, as `Ported/Operations/Waiting.swift`.
    private static func sourcePaths() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted().filter {
            $0.hasSuffix(".swift") && $0.wholeMatch(of: /(?:Legacy|Ported)\/\w+\/\w+\.swift/) != nil
        }
    }

    /// Returns the document with each block replaced by the current code of its region.
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
            result += try ["```swift"] + code(of: String(reference.2), in: String(reference.1)) + ["```"]
        }
        return result.joined(separator: "\n")
    }

    /// Returns the lines of a region.
    private static func code(of name: String, in path: String) throws -> [Substring] {
        let source = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
        let region = try SourceRegion.regions(in: source).first { $0.name == name }
        return try #require(region, "no region \(name) in \(path)").code
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the document with each diff recomputed from the regions of both sides.
    private static func withDiffs(_ text: String) throws -> String {
        try text.replacing(/(?s)<!-- diff: (\w+\/\w+\.swift): ([\w-]+) -->\n```diff\n.*?```/) { match in
            let (path, name) = (match.1, String(match.2))
            let codes = try ["Legacy", "Ported"].map { try code(of: name, in: "\($0)/\(path)") }
            let lines = diff(from: codes[0], to: codes[1])
            return "<!-- diff: \(path): \(name) -->\n```diff\n\(lines.joined(separator: "\n"))\n```"
        }
    }

    /// Returns the lines of both texts in order. Lines of only one text are marked.
    private static func diff(from old: [Substring], to new: [Substring]) -> [String] {
        let difference = new.difference(from: old)
        var (removed, inserted) = (Set<Int>(), Set<Int>())
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var (lines, oldIndex, newIndex) = ([String](), 0, 0)
        while oldIndex < old.count || newIndex < new.count {
            if removed.contains(oldIndex) {
                lines.append("-\(old[oldIndex])")
                oldIndex += 1
            } else if inserted.contains(newIndex) {
                lines.append("+\(new[newIndex])")
                newIndex += 1
            } else {
                lines.append(old[oldIndex].isEmpty ? "" : " \(old[oldIndex])")
                (oldIndex, newIndex) = (oldIndex + 1, newIndex + 1)
            }
        }
        return lines
    }
}
