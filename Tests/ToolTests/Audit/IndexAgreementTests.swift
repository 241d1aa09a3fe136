import Foundation
import TestSupport
import Testing

@testable import SourceAudit

/// Compares the findings by name with the compiler's index. The measures are the share of the certain findings that is
/// right, and the share of all uses that was found.
///
/// `AUDIT_CODE_BASE=/path swift test --filter IndexAgreement` checks another code base, which must have been built.
@Suite("Names beside the compiler's index", .inTurns)
struct IndexAgreementTests {
    @Test("Of the certain findings 99 % are right, and 97 % of all uses are found")
    func agreement() throws {
        let environment = ProcessInfo.processInfo.environment
        let paths =
            environment["AUDIT_CODE_BASE"].map { [$0] }
            ?? ["MigrationExamples/Legacy", "TaskOperationsBridge"].map {
                Guide.package.appending(path: "Sources/\($0)").path
            }
        let agreement = Agreement(paths: paths, stores: environment["AUDIT_INDEX_STORE"].map { [$0] })
        print(agreement)
        // Without an index, for example after a release build only, nothing can be compared.
        guard agreement.judged > 0 else { return }
        #expect(Double(agreement.certainRight) >= 0.99 * Double(agreement.certain), "\(agreement.wrong)")
        #expect(
            Double(agreement.found) >= 0.97 * Double(agreement.found + agreement.missed.count), "\(agreement.missed)")
    }
}

struct Agreement: CustomStringConvertible {
    private(set) var files = 0
    private(set) var certain = 0
    private(set) var certainRight = 0
    private(set) var likely = 0
    private(set) var likelyRight = 0
    private(set) var found = 0
    private(set) var missed: [String] = []
    private(set) var wrong: [String] = []

    var judged: Int { certain + likely }

    var description: String {
        """
        \(files) files with records: \(certainRight) of \(certain) certain right, \(likelyRight) of \(likely) likely \
        right, \(found) of \(found + missed.count) found
        wrong: \(wrong.joined(separator: "\n       "))
        missed: \(missed.joined(separator: "\n        "))
        """
    }

    init(paths: [String], stores: [String]?) {
        let vocabulary = Vocabulary()
        let codeBase = CodeBase(vocabulary)
        let walk = FileWalk(paths)
        let files = walk.paths.enumerated().compactMap { number, path in
            FileManager.default.contents(atPath: path).map {
                SourceFile(path: path, number: number, bytes: [UInt8]($0), vocabulary: vocabulary)
            }
        }
        for file in files { codeBase.add(Declarations(file), of: file) }
        let rules = Rules(Patterns.all, vocabulary)
        var numbers: [String: Int] = [:]
        for file in files { numbers[URL(filePath: file.path).resolvingSymlinksInPath().path] = file.number }
        let members = Set(rules.members.keys.map { vocabulary[$0] })
        let indexes = Indexes(
            stores: stores ?? Index.stores(near: paths), library: nil, files: numbers, codeBase: codeBase,
            members: members)
        for file in files {
            if let record = indexes.records[file.number] { judge(file, record, codeBase, rules) }
        }
    }

    private struct Key: Hashable {
        let token: Int
        let pattern: String
    }

    private mutating func judge(_ file: SourceFile, _ record: FileRecord, _ codeBase: CodeBase, _ rules: Rules) {
        files += 1
        let byNames = findings(file, nil, codeBase, rules)
        let byIndex = findings(file, record, codeBase, rules)
        let named = Set(byNames.map { Key(token: $0.token, pattern: $0.pattern.id) })
        for finding in byNames {
            guard let isRight = isSystem(finding, record, file) else { continue }
            if finding.certainty == .certain {
                certain += 1
                certainRight += isRight ? 1 : 0
            } else {
                likely += 1
                likelyRight += isRight ? 1 : 0
            }
            if !isRight { wrong.append(place(finding)) }
        }
        for finding in byIndex where isSystem(finding, record, file) == true {
            if named.contains(Key(token: finding.token, pattern: finding.pattern.id)) {
                found += 1
            } else {
                missed.append(place(finding))
            }
        }
    }

    private func place(_ finding: Finding) -> String {
        "\(finding.path):\(finding.line):\(finding.column) \(finding.pattern.id) \(finding.certainty): \(finding.source)"
    }

    private func findings(
        _ file: SourceFile, _ record: FileRecord?, _ codeBase: CodeBase, _ rules: Rules
    ) -> [Finding] {
        var matcher = FileMatcher(file, Declarations(file), codeBase, rules, record)
        matcher.run()
        return matcher.findings
    }

    /// Returns whether the index names a system symbol at a finding; nil if the index has no entry.
    private func isSystem(_ finding: Finding, _ record: FileRecord, _ file: SourceFile) -> Bool? {
        if finding.pattern.shapes.contains(where: { if case .analysis = $0 { true } else { false } }) { return nil }
        let name = file.text(finding.token)
        // A C function is identified by its name, so the index would give no further information.
        if finding.pattern.shapes.contains(where: {
            if case .function(let names, _) = $0 { names.contains(name) } else { false }
        }) {
            return nil
        }
        switch record.owner(at: finding.line, finding.column, named: name) {
        case .system: return true
        case .other: return false
        case .unknown: break
        }
        switch record.made(at: finding.line, finding.column) {
        case .system: return true
        case .other: return false
        case .unknown: return nil
        }
    }
}
