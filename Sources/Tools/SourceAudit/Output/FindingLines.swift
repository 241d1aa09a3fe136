/// One line for each finding, in the form that Xcode shows beside the source, or that a GitHub workflow shows in a pull
/// request. Xcode needs absolute paths; a workflow needs paths relative to the root of the repository.
struct FindingLines {
    let text: String

    /// - Parameter new: The findings that a baseline does not have; nil, without a baseline, writes all findings.
    init(_ report: Report, new: [Report.Entry]?, isGitHub: Bool) {
        let entries = new ?? report.findings.filter { $0.allowance == nil }
        var paths = RepositoryPaths()
        text = entries.map { entry in
            isGitHub
                ? Self.gitHubLine(entry, paths.relative(entry.file)) : Self.xcodeLine(entry, paths.absolute(entry.file))
        }.joined()
    }

    private static func message(_ entry: Report.Entry) -> String {
        guard let pattern = Patterns.byID[entry.pattern] else { return entry.pattern }
        let recipe = pattern.recipe.map { " (\(GuideText.path(of: $0)))" } ?? ""
        return "\(pattern.title): \(pattern.meaning)\(recipe)"
    }

    private static func xcodeLine(_ entry: Report.Entry, _ path: String) -> String {
        "\(path.shown):\(entry.line):\(entry.column): warning: \(message(entry)) [\(entry.pattern)]\n"
    }

    /// A workflow command. Some characters in its properties and its message are escaped.
    private static func gitHubLine(_ entry: Report.Entry, _ path: String) -> String {
        let properties =
            "file=\(escapedProperty(path)),line=\(entry.line),col=\(entry.column),title=\(entry.pattern)"
        return "::warning \(properties)::\(escaped(message(entry)))\n"
    }

    private static func escaped(_ text: String) -> String { escaped(text, "%\r\n") }

    private static func escapedProperty(_ text: String) -> String { escaped(text, "%\r\n:,") }

    /// Compares scalars, because a scalar and a combining mark after it, or a line break of two scalars, are one
    /// character.
    private static func escaped(_ text: String, _ special: String) -> String {
        text.unicodeScalars.map { scalar in
            if !special.unicodeScalars.contains(scalar) { return String(scalar).shown }
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return (digits.count == 1 ? "%0" : "%") + digits
        }.joined()
    }
}
