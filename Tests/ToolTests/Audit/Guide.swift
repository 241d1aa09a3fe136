import Foundation

@testable import SourceAudit

/// The pages of the recipes to which the audit refers.
struct Guide {
    struct Recipe {
        /// The name of the recipe's page, as in patterns.
        let name: String
        /// The paths of the sources that show the old code, as in the audit's output.
        let legacyFiles: Set<String>
    }

    static let package = GuideText.package

    /// All pages of recipes.
    let recipes: [Recipe]

    init() throws {
        let folder = Self.package.appending(path: "Sources/MigrationExamples/Recipes")
        let pages = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        recipes = try pages.sorted().map { page in
            let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
            let files = text.matches(of: /\(..\/..\/(Legacy\/\w+\/\w+\.swift)\)/).map {
                Self.package.appending(path: "Sources/MigrationExamples/\($0.1)").path
            }
            return Recipe(name: String(page.dropLast(".md".count)), legacyFiles: Set(files))
        }
    }
}

enum Example {
    /// Returns the audit's findings in one side of the recipes, found by name alone.
    static func findings(in side: String) throws -> [Finding] {
        var auditor = Auditor(paths: [Guide.package.appending(path: "Sources/MigrationExamples/\(side)").path])
        auditor.usesIndex = false
        return auditor.result().findings.map { finding in
            guard finding.path.hasPrefix("/") else {
                return finding.at(FileManager.default.currentDirectoryPath + "/" + finding.path)
            }
            return finding
        }
    }

    /// Returns the audit's findings in a source, found by name alone.
    static func findings(inSource source: String, path: String = "Example.swift") -> [Finding] {
        findings(inSources: [path: source])
    }

    static func findings(inSources sources: [String: String]) -> [Finding] {
        let vocabulary = Vocabulary()
        let codeBase = CodeBase(vocabulary)
        let files = sources.sorted { $0.key < $1.key }.enumerated().map { number, source in
            SourceFile(path: source.key, number: number, bytes: Array(source.value.utf8), vocabulary: vocabulary)
        }
        for file in files { codeBase.add(Declarations(file), of: file) }
        let rules = Rules(Patterns.all, vocabulary)
        return files.flatMap { file in
            let file = SourceFile(
                path: file.path, number: file.number, bytes: file.bytes, vocabulary: vocabulary,
                ownNames: codeBase.ownNames)
            var matcher = FileMatcher(file, Declarations(file), codeBase, rules, nil)
            matcher.run()
            return matcher.findings
        }
    }
}

extension Finding {
    func at(_ path: String) -> Finding {
        Finding(
            pattern: pattern, path: path, line: line, column: column, certainty: certainty, condition: condition,
            source: source, context: context, allowance: allowance, file: file, token: token,
            declaration: declaration)
    }
}
