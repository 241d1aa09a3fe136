import Foundation
import TestSupport
import Testing

@testable import SourceAudit

/// Audits the sources of the recipes, for which the guide states the right answers.
@Suite("The audit of the recipes' own sources", .inTurns)
struct LegacyExamplesTests {
    @Test("Every recipe's pattern is found in its old source, and leads to its recipe")
    func everyRecipeIsFound() throws {
        let findings = try Example.findings(in: "Legacy")
        // Objective-C code is only on the page of its recipe.
        for recipe in try Guide().recipes where recipe.name != Pattern.objectiveCRecipe {
            let found = Set(findings.filter { recipe.legacyFiles.contains($0.path) }.compactMap(\.pattern.recipe))
            #expect(found.contains(recipe.name), "\(recipe.name) is not among \(found.sorted())")
        }
    }

    @Test("The ports contain only the findings that are meant to stay")
    func portsAreClean() throws {
        // The intended findings in ported code, and the reasons.
        let meant: [String: Set<String>] = [
            // Foundation calls this delegate on its own queue, so a lock guards the delegate's table.
            "ImageDownloaderSession.swift": ["lock-made", "lock-used", "checking-unchecked"],
            // The thread writes to the other end of the pipe, which is not part of the recipe.
            "DescriptorSource.swift": ["thread-detach"],
            // The callback is old code that blocks, which is the subject of the recipe.
            "BlockingCallbacks.swift": [
                "dispatch-global", "semaphore-signal", "semaphore-wait", "semaphore-signalled",
            ],
            // The recipe shows that all work ran on one thread.
            "PerformOnThread.swift": ["thread-current"],
        ]
        for finding in try Example.findings(in: "Ported") {
            let name = (finding.path as NSString).lastPathComponent
            #expect(
                meant[name]?.contains(finding.pattern.id) ?? false,
                "\(name):\(finding.line) \(finding.pattern.id): \(finding.source)")
        }
    }
}

@Suite("Patterns and the guide", .inTurns)
struct GuideTests {
    @Test("Every pattern's recipe is a page, or a heading of one")
    func recipesExist() {
        for pattern in Patterns.all {
            guard let recipe = pattern.recipe else { continue }
            #expect(GuideText.sections([recipe])[recipe]?.isEmpty == false, "\(pattern.id): no \(recipe)")
            // Reports name the page below one of these folders, without its extension.
            let isThere = ["Sources/MigrationExamples/Recipes", "Sources/TaskOperations", "."].contains { folder in
                let page = "\(folder)/\(recipe.prefix { $0 != "#" }).md"
                return FileManager.default.fileExists(atPath: Guide.package.appending(path: page).path)
            }
            #expect(isThere, "\(pattern.id): no page \(recipe)")
        }
    }

    @Test("The advice of a pattern names only existing parts of the library")
    func meaningsNameTypes() throws {
        let folder = Guide.package.appending(path: "Sources")
        var library = ""
        for module in ["TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras"] {
            let root = folder.appending(path: module)
            for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) where path.hasSuffix(".swift") {
                library += try String(contentsOf: root.appending(path: path), encoding: .utf8)
            }
        }
        let own = Set(
            library.matches(of: /\b(?:Async|Task|Blocking|Thread|Bridged|Dispatch)[A-Z]\w+/).map { $0.output })
        #expect(own.contains("AsyncSemaphore"))
        for pattern in Patterns.all {
            for name in pattern.meaning.matches(of: /\b(?:Async|Task|Blocking|Thread|Bridged)[A-Z]\w+/).map(\.output)
            where name != "AsyncStream" && name != "TaskLocal" {
                #expect(own.contains(name), "\(pattern.id) names \(name)")
            }
        }
    }

    @Test("Every name that the audit looks for is in the guide, in Members or on a page of a recipe")
    func namesInGuide() throws {
        let folder = Guide.package.appending(path: "Sources/MigrationExamples/Recipes")
        let pages = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        let files =
            pages.map { folder.appending(path: $0) }
            + ["Migration.md", "Sources/TaskOperations/TaskOperations.docc/Members.md"].map {
                Guide.package.appending(path: $0)
            }
        let text = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        let words = Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
        // Two sentences of Members name all of these by their beginnings.
        let beginnings = ["OSAtomic", "OSMemoryBarrier", "atomic_"]
        for pattern in Patterns.all {
            for name in pattern.names where !beginnings.contains(where: name.hasPrefix) {
                #expect(words.contains(name[...]), "\(pattern.id): \(name)")
            }
        }
    }

    @Test("Every page of a recipe is reached by a pattern")
    func recipesAreReached() throws {
        let reached = Set(Patterns.reported.compactMap(\.recipe))
        let recipes = try Guide().recipes
        #expect(recipes.count > 80)
        for recipe in recipes {
            #expect(reached.contains(recipe.name), "nothing leads to \(recipe.name)")
        }
    }

    @Test("The audit's output in the guide is its real output")
    func output() throws {
        let guide = try String(contentsOf: Guide.package.appending(path: "Migration.md"), encoding: .utf8)
        let blocks = guide.matches(of: /(?s)<!-- audit: (\S+) -->\n```\n(.*?)```/)
        #expect(!blocks.isEmpty)
        for block in blocks {
            let path = "Sources/MigrationExamples/\(block.1)"
            var auditor = Auditor(paths: [Guide.package.appending(path: path).path])
            auditor.usesIndex = false
            let report = auditor.run()
            let table = Table(report, new: nil, isList: true, isColored: false).text
                .replacing(report.findings[0].file, with: path)
            #expect(table.contains(block.2), "\(path):\n\(table)")
        }
    }

    @Test("README.md shows lines of the audit's output")
    func readme() throws {
        let text = try String(contentsOf: Guide.package.appending(path: "README.md"), encoding: .utf8)
        let block = try #require(text.firstMatch(of: /(?s)<!-- audit lines -->\n```\n(.*?)```/)).1
        var auditor = Auditor(paths: [Guide.package.appending(path: "Sources/MigrationExamples/Legacy").path])
        auditor.usesIndex = false
        let output = Table(auditor.run(), new: nil, isList: false, isColored: false).text
            .replacing(Guide.package.path, with: "").split(separator: "\n").map(Self.words)
        for line in block.split(separator: "\n").map(Self.words) {
            #expect(output.contains(line), "\(line)")
        }
    }

    @Test("The audit finds nothing in the examples of README.md")
    func examplesOfReadme() throws {
        let text = try String(contentsOf: Guide.package.appending(path: "README.md"), encoding: .utf8)
        let blocks = text.matches(of: /(?s)(-->\n)?```swift\n(.*?)```/).filter { $0.1 == nil }.map { String($0.2) }
        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(Example.findings(inSource: "import TaskOperations\n" + block).map(\.pattern.id) == [])
        }
    }

    /// Returns the words of a line, without the padding of columns and the path of the package.
    private static func words(_ line: Substring) -> [Substring] {
        line.split(separator: " ").map { $0.hasPrefix("/") ? $0.dropFirst() : $0 }
    }

    @Test("Names of patterns are unique, in lower case, and say their family's step")
    func names() {
        #expect(Patterns.byID.count == Patterns.reported.count)
        for pattern in Patterns.all {
            #expect(pattern.id.allSatisfy { $0.isLowercase || $0 == "-" || $0.isNumber }, "\(pattern.id)")
            #expect(!pattern.meaning.isEmpty && pattern.meaning.hasSuffix("."), "\(pattern.id)")
        }
    }
}

extension Pattern {
    /// The names of members, functions and messages by which the pattern is found.
    fileprivate var names: [String] {
        shapes.flatMap { shape -> [String] in
            switch shape {
            case .member(let names, _, _), .function(let names, _), .message(let names, _, _): names
            case .made(let types, _), .named(let types): types.map(\.rawValue)
            case .analysis: []
            }
        }
    }
}
