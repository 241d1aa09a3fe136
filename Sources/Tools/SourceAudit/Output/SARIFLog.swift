import Foundation

/// A report in the Static Analysis Results Interchange Format, 2.1.0 (OASIS).
struct SARIFLog {
    private let report: Report
    private let new: Set<String>?

    /// - Parameter new: The entries that a baseline does not have; nil without a baseline.
    init(_ report: Report, new: [Report.Entry]?) {
        self.report = report
        self.new = new.map { Set($0.map(\.fingerprint)) }
    }

    func json() throws -> String { try JSONText.of(log) }

    private struct Log: Encodable {
        var schema = "https://json.schemastore.org/sarif-2.1.0.json"
        var version = "2.1.0"
        let runs: [Run]

        enum CodingKeys: String, CodingKey {
            case schema = "$schema"
            case version, runs
        }
    }

    private struct Run: Encodable {
        let tool: Tool
        let originalUriBaseIds: [String: ArtifactLocation]?
        let results: [Result]
        var columnKind = "utf16CodeUnits"
    }

    private struct Tool: Encodable { let driver: Driver }

    private struct Driver: Encodable {
        var name = "TaskOperations audit"
        let rules: [Rule]
    }

    private struct Rule: Encodable {
        let id: String
        let shortDescription: Message
        let fullDescription: Message
        let help: Message
        let helpUri: String?
        let defaultConfiguration: Configuration
        let properties: Properties

        struct Configuration: Encodable { let level: String }

        struct Properties: Encodable {
            let tags: [String]
            let effort: Int
            let step: Int
        }
    }

    private struct Message: Encodable { let text: String }

    private struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        /// The certainty of the finding, from 0 to 100.
        let rank: Double
        let message: Message
        let locations: [Location]
        let partialFingerprints: [String: String]
        let baselineState: String?
        let suppressions: [Suppression]?
    }

    private struct Suppression: Encodable {
        var kind = "inSource"
        let justification: String
    }

    private struct Location: Encodable { let physicalLocation: PhysicalLocation }

    private struct PhysicalLocation: Encodable {
        let artifactLocation: ArtifactLocation
        let region: Region
    }

    private struct ArtifactLocation: Encodable {
        let uri: String
        var uriBaseId: String?
    }

    private struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
        let snippet: Message
    }

    /// The name that represents the root of the repository in paths.
    private static let root = "SRCROOT"

    private var log: Log {
        let used = Set(report.findings.map(\.pattern))
        let patterns = Patterns.reported.filter { used.contains($0.id) }
        let places = Dictionary(uniqueKeysWithValues: patterns.enumerated().map { ($1.id, $0) })
        var paths = RepositoryPaths()
        let root = report.findings.first.flatMap { paths.root(of: $0.file) }
        var columns = Columns()
        let results = report.findings.compactMap { entry -> Result? in
            guard let place = places[entry.pattern] else { return nil }
            let isBelowRoot = root != nil && paths.root(of: entry.file) == root
            let location =
                isBelowRoot
                ? ArtifactLocation(uri: Self.escaped(paths.relative(entry.file)), uriBaseId: Self.root)
                : ArtifactLocation(uri: "file://" + Self.escaped(paths.absolute(entry.file)))
            return result(entry, patterns[place], place, location, columns.utf16Column(of: entry))
        }
        let base = root.map { [Self.root: ArtifactLocation(uri: "file://" + Self.escaped($0) + "/")] }
        return Log(
            runs: [
                Run(
                    tool: Tool(driver: Driver(rules: patterns.map(Self.rule))), originalUriBaseIds: base,
                    results: results)
            ])
    }

    private static func rule(_ pattern: Pattern) -> Rule {
        let page = pattern.recipe.map { GuideText.path(of: $0) }
        let recipe = page.map { " Recipe: \($0)" } ?? " There is no recipe."
        return Rule(
            id: pattern.id, shortDescription: Message(text: pattern.title),
            fullDescription: Message(text: "\(pattern.title). \(pattern.meaning)"),
            help: Message(text: pattern.meaning + recipe), helpUri: page.map(Self.address(ofPage:)),
            defaultConfiguration: Rule.Configuration(level: level(of: pattern)),
            properties: Rule.Properties(
                tags: ["migration", pattern.family.rawValue], effort: pattern.effort.rawValue,
                step: pattern.step.rawValue))
    }

    private static func level(of pattern: Pattern) -> String { pattern.effort == .thought ? "warning" : "note" }

    /// The URL of a page in the package that the audit was built from.
    private static func address(ofPage page: String) -> String {
        let parts = page.split(separator: "#", maxSplits: 1)
        let anchor = parts.count == 2 ? "#\(parts[1])" : ""
        return "file://" + escaped(GuideText.package.appending(path: String(parts[0])).path) + anchor
    }

    private static func escaped(_ path: String) -> String {
        path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    }

    private func result(
        _ entry: Report.Entry, _ pattern: Pattern, _ place: Int, _ location: ArtifactLocation, _ column: Int
    ) -> Result {
        Result(
            ruleId: pattern.id, ruleIndex: place, level: Self.level(of: pattern),
            rank: entry.certainty == Finding.Certainty.certain.rawValue ? 99 : 70,
            message: Message(text: "\(pattern.title): \(pattern.meaning)"),
            locations: [
                Location(
                    physicalLocation: PhysicalLocation(
                        artifactLocation: location,
                        region: Region(
                            startLine: entry.line, startColumn: column, snippet: Message(text: entry.source))))
            ],
            partialFingerprints: ["audit/v1": entry.fingerprint],
            baselineState: new.map { $0.contains(entry.fingerprint) ? "new" : "unchanged" },
            suppressions: entry.allowance.map { [Suppression(justification: $0)] })
    }
}

/// Converts columns of findings, which count bytes, to the columns of SARIF, which count UTF-16 code units.
private struct Columns {
    private var path = ""
    private var lines: [Data.SubSequence] = []

    /// Findings are in the order of their files, so that each file is read once.
    mutating func utf16Column(of entry: Report.Entry) -> Int {
        if path != entry.file {
            path = entry.file
            let data = FileManager.default.contents(atPath: path) ?? Data()
            lines = data.split(separator: Byte.newline, omittingEmptySubsequences: false)
        }
        guard lines.indices.contains(entry.line - 1) else { return entry.column }
        return String(decoding: lines[entry.line - 1].prefix(entry.column - 1), as: UTF8.self).utf16.count + 1
    }
}
