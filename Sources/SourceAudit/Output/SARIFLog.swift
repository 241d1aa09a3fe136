import Foundation

/// A report in the Static Analysis Results Interchange Format, 2.1.0 (OASIS).
struct SARIFLog {
    private let report: Report
    private let new: Set<String>?

    /// - Parameter new: What a baseline does not have, nil without one.
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
        let help: Message
        let properties: Properties

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

    private struct ArtifactLocation: Encodable { let uri: String }

    private struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
        let snippet: Message
    }

    private var log: Log {
        let used = Set(report.findings.map(\.pattern))
        let patterns = Patterns.reported.filter { used.contains($0.id) }
        let places = Dictionary(uniqueKeysWithValues: patterns.enumerated().map { ($1.id, $0) })
        let rules = patterns.map { pattern in
            let recipe = pattern.recipe.map { " Recipe: \(GuideText.path(of: $0))" } ?? " There is no recipe."
            return Rule(
                id: pattern.id, shortDescription: Message(text: pattern.title),
                help: Message(text: pattern.meaning + recipe),
                properties: Rule.Properties(
                    tags: ["migration", pattern.family.rawValue], effort: pattern.effort.rawValue,
                    step: pattern.step.rawValue))
        }
        let results = report.findings.compactMap { entry -> Result? in
            guard let place = places[entry.pattern] else { return nil }
            return result(entry, patterns[place], place)
        }
        return Log(runs: [Run(tool: Tool(driver: Driver(rules: rules)), results: results)])
    }

    private func result(_ entry: Report.Entry, _ pattern: Pattern, _ place: Int) -> Result {
        let uri = entry.file.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? entry.file
        return Result(
            ruleId: pattern.id, ruleIndex: place, level: pattern.effort == .thought ? "warning" : "note",
            message: Message(text: "\(pattern.title): \(pattern.meaning)"),
            locations: [
                Location(
                    physicalLocation: PhysicalLocation(
                        artifactLocation: ArtifactLocation(uri: uri),
                        region: Region(
                            startLine: entry.line, startColumn: entry.column, snippet: Message(text: entry.source))))
            ],
            partialFingerprints: ["audit/v1": entry.fingerprint],
            baselineState: new.map { $0.contains(entry.fingerprint) ? "new" : "unchanged" },
            suppressions: entry.allowance.map { [Suppression(justification: $0)] })
    }
}
