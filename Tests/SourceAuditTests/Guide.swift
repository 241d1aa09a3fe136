import Foundation

@testable import SourceAudit

/// Migration.md as far as the audit leads to it.
struct Guide {
    struct Recipe {
        let anchor: String
        /// The sources that show how it was, as the audit names them.
        let legacyFiles: Set<String>
    }

    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private(set) var anchors: Set<String> = []
    private(set) var recipes: [Recipe] = []

    init() throws {
        let text = try String(contentsOf: Self.package.appending(path: "Migration.md"), encoding: .utf8)
        var isCode = false
        var anchor = ""
        var files: [String: Set<String>] = [:]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") { isCode.toggle() }
            if !isCode, line.hasPrefix("#") {
                anchor = Self.anchor(of: line)
                anchors.insert(anchor)
            }
            if let match = line.wholeMatch(of: /<!-- Legacy\/(\w+\/\w+\.swift): [\w-]+ -->/) {
                let path = Self.package.appending(path: "Sources/MigrationExamples/Legacy/\(match.1)").path
                files[anchor, default: []].insert(path)
            }
        }
        recipes = files.map { Recipe(anchor: $0.key, legacyFiles: $0.value) }.sorted { $0.anchor < $1.anchor }
    }

    /// What a link to a heading is called on GitHub.
    private static func anchor(of line: Substring) -> String {
        let title = line.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 })
    }
}

enum Example {
    /// What the audit finds in one side of the recipes, by names alone.
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

    /// What the audit finds in a source, by names alone.
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
            source: source, context: context, allowance: allowance, file: file, token: token)
    }
}
