import Foundation

/// A document of the package, split at its headings.
struct MigrationDocument {
    /// The text below a heading, up to the next heading of any level.
    struct Section {
        let title: String
        let level: Int
        let text: String

        /// The anchor of the heading on GitHub: in lower case, without punctuation, with hyphens for spaces.
        var anchor: String {
            String(
                title.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map {
                    $0 == " " ? "-" : $0
                })
        }
    }

    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let recipeFolder = "Sources/MigrationExamples/Recipes"

    /// The path in the package.
    let path: String
    let text: String

    init(_ path: String = "Migration.md") throws {
        self.path = path
        text = try String(contentsOf: Self.package.appending(path: path), encoding: .utf8)
    }

    /// The paths of the recipes' pages, one per recipe.
    static var recipePaths: [String] {
        get throws {
            let files = try FileManager.default.subpathsOfDirectory(atPath: package.appending(path: recipeFolder).path)
            return files.filter { $0.hasSuffix(".md") }.sorted().map { "\(recipeFolder)/\($0)" }
        }
    }

    /// The paths of README.md, the guide, the articles of all products and the pages of the recipes.
    static var paths: [String] {
        get throws {
            try ["README.md", "Migration.md"] + articlePaths + recipePaths
        }
    }

    /// The paths of the articles in the catalogues of the products.
    static var articlePaths: [String] {
        get throws {
            let sources = package.appending(path: "Sources").path
            // Modules that are symbolic links to other modules have no catalogue of their own.
            let modules = try FileManager.default.contentsOfDirectory(atPath: sources).filter {
                FileManager.default.fileExists(atPath: "\(sources)/\($0)/\($0).docc")
            }
            return try modules.sorted().flatMap { module in
                try FileManager.default.contentsOfDirectory(atPath: "\(sources)/\(module)/\(module).docc")
                    .filter { $0.hasSuffix(".md") }.sorted().map { "Sources/\(module)/\(module).docc/\($0)" }
            }
        }
    }

    /// Returns the path of an article in the library's catalogue.
    static func article(_ name: String) -> String { "Sources/TaskOperations/TaskOperations.docc/\(name).md" }

    /// The sections. They keep their code blocks, and a line in a code block is never a heading.
    var sections: [Section] {
        var sections: [(heading: Substring, lines: [Substring])] = []
        var isCode = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") { isCode.toggle() }
            let level = line.prefix { $0 == "#" }.count
            if !isCode, (1...6).contains(level), line.dropFirst(level).hasPrefix(" ") {
                sections.append((line, []))
            } else if !sections.isEmpty {
                sections[sections.count - 1].lines.append(line)
            }
        }
        return sections.map { heading, lines in
            let level = heading.prefix { $0 == "#" }.count
            return Section(
                title: String(heading.dropFirst(level + 1)), level: level, text: lines.joined(separator: "\n"))
        }
    }

    /// The possible targets of a link with a `#`: headings, and anchors such as `<a id="…">`.
    var anchors: [String] { sections.map(\.anchor) + text.matches(of: /<a id="([\w-]+)">/).map { String($0.1) } }

    /// The regions of recipes that the document shows, as `(Legacy, Operations/Waiting.swift, waiting)`. A diff shows the
    /// regions of both sides.
    var regions: [(side: Substring, file: Substring, name: Substring)] {
        text.matches(of: /<!-- (Legacy|Ported)\/(\w+\/\w+\.swift): ([\w-]+) -->/).map { ($0.1, $0.2, $0.3) }
            + text.matches(of: /<!-- diff: (\w+\/\w+\.swift): ([\w-]+) -->/).flatMap { match in
                ["Legacy", "Ported"].map { ($0, match.1, match.2) }
            }
    }

    /// The code blocks of the document, and its diffs.
    var code: String {
        text.matches(of: /(?s)```(?:swift|diff)\n(.*?)```/).map { String($0.1) }.joined(separator: "\n")
    }

    /// The targets of all links, including those in code blocks.
    var links: [String] { text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }

    /// Returns the path of a link's target in the package, and the heading in it.
    func target(of link: String) -> (path: String, anchor: String?) {
        let parts = link.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
        let folder = Self.package.appending(path: path).deletingLastPathComponent()
        let target = parts[0].isEmpty ? path : Self.path(folder.appending(path: parts[0]))
        return (target, parts.count == 2 ? parts[1] : nil)
    }

    /// Returns a path in the package with its `..` components resolved.
    private static func path(_ url: URL) -> String {
        String(url.standardizedFileURL.path.dropFirst(package.standardizedFileURL.path.count + 1))
    }
}
