import Foundation

/// A document of the package, cut at its headings.
struct MigrationDocument {
    /// What stands below a heading, up to the next one of any level.
    struct Section {
        let title: String
        let level: Int
        let text: String

        /// What a link to the heading is called on GitHub: in lower case, without punctuation, with hyphens for spaces.
        var anchor: String {
            String(
                title.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map {
                    $0 == " " ? "-" : $0
                })
        }

        /// The regions of recipes that it shows, as `(Legacy, waiting)`.
        var regions: [(side: Substring, name: Substring)] {
            text.matches(of: /<!-- (Legacy|Ported)\/\w+\/\w+\.swift: ([\w-]+) -->/).map { ($0.1, $0.2) }
        }
    }

    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    let text: String

    init(_ name: String = "Migration.md") throws {
        text = try String(contentsOf: Self.package.appending(path: name), encoding: .utf8)
    }

    /// The sections, code blocks left where they are: a line in one of them is no heading.
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

    /// The sections that show a recipe.
    var recipes: [Section] { sections.filter { $0.level == 3 && !$0.regions.isEmpty } }

    /// The targets of the links, code blocks and all.
    var links: [String] { text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }
}
