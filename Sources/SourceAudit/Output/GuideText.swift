import Foundation

/// The recipes of Migration.md, as far as the file lies beside the sources that the audit was built from.
enum GuideText {
    /// The text below each of the headings, without the heading, by its anchor.
    static func sections(_ anchors: Set<String>) -> [String: String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Migration.md")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [:] }
        return sections(of: text, anchors)
    }

    static func sections(of text: String, _ anchors: Set<String>) -> [String: String] {
        var sections: [String: [Substring]] = [:]
        var anchor: String?
        var isCode = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") { isCode.toggle() }
            if !isCode, line.hasPrefix("#") {
                let name = Self.anchor(of: line)
                anchor = anchors.contains(name) ? name : nil
            } else if let anchor, !line.hasPrefix("<!--") {
                sections[anchor, default: []].append(line)
            }
        }
        return sections.mapValues { $0.joined(separator: "\n") }
    }

    /// What a link to a heading is called: in lower case, without punctuation, with hyphens for spaces.
    static func anchor(of heading: Substring) -> String {
        let title = heading.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 })
    }
}
