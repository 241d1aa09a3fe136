import Foundation

/// The command line of the audit.
public struct AuditCommand {
    /// The exit status. The numbers are documented and do not change.
    public enum Status: Int32, Sendable {
        case success = 0
        /// Findings remain, or new findings exist.
        case found = 1
        case wrongUsage = 2
        /// A path or a file could not be read, or a file or the output could not be written.
        case failure = 3
    }

    /// Writes a text to the standard output. `writeError` writes a text to the standard error.
    private let write: (String) throws -> Void
    private let writeError: (String) -> Void
    private let isTerminal: Bool
    private let showsProgress: Bool

    /// - Parameters:
    ///   - isTerminal: Whether the output is a terminal, and can show colours.
    ///   - showsProgress: Whether the standard error is a terminal.
    public init(
        isTerminal: Bool, showsProgress: Bool, write: @escaping (String) throws -> Void,
        writeError: @escaping (String) -> Void
    ) {
        self.isTerminal = isTerminal
        self.showsProgress = showsProgress
        self.write = write
        self.writeError = writeError
    }

    /// Runs the command with its arguments, without the name of the program.
    public func run(_ arguments: [String]) -> Status {
        do {
            return try run(try Arguments(arguments))
        } catch let failure as Arguments.Failure {
            writeError("audit: \(failure.message)\n\n\(Arguments.help)\n")
            return .wrongUsage
        } catch let failure as FileReplacement.Failure {
            writeError("audit: \(failure.message.shown)\n")
            return .failure
        } catch let failure as FileFailure {
            writeError("audit: \(failure.message.shown)\n")
            return .failure
        } catch {
            writeError("audit: \(error)\n")
            return .failure
        }
    }

    /// The error for a file from the arguments that cannot be read or written.
    private struct FileFailure: Error {
        let message: String
    }

    private func run(_ arguments: Arguments) throws -> Status {
        if arguments.wantsHelp {
            try write(Arguments.help + "\n")
            return .success
        }
        if arguments.wantsRules {
            try write(RuleOfThumb.text)
            return .success
        }
        let isColored = arguments.isColored ?? isTerminal
        if let (old, new) = arguments.compared {
            let (old, new) = (try readReport(at: old), try readReport(at: new))
            warn(of: old, new)
            let comparison = Comparison(old: old, new: new)
            try write(arguments.output == .json ? comparison.json() : comparison.table(isColored: isColored))
            return .success
        }
        if arguments.fixes { return try fix(arguments) }
        let baseline = try arguments.baseline.map { try readReport(at: $0) }
        let report = audit(arguments)
        if let baseline { warn(of: baseline, report) }
        if let path = arguments.html { try write(Array(HTMLPage(report).text.utf8), to: path) }
        let new = baseline.map { report.entries(notIn: $0) }
        switch arguments.output {
        case .json: try write(report.json())
        case .sarif: try write(SARIFLog(report, new: new).json())
        case .xcode, .github: try write(FindingLines(report, new: new, isGitHub: arguments.output == .github).text)
        case .table: try write(Table(report, new: new, isList: arguments.isList, isColored: isColored).text)
        }
        let isMissing = report.notes.contains { $0.message == FileWalk.missing }
        if isMissing || report.files == 0 {
            writeError("audit: \(isMissing ? "a path does not exist" : "there are no sources")\n")
            return .failure
        }
        if arguments.mustBeDone && report.patterns.contains(where: { $0.effort > 0 }) { return .found }
        if arguments.mustBeDone && report.notes.contains(where: { FileWalk.unread.contains($0.message) }) {
            writeError("audit: not all sources could be read\n")
            return .failure
        }
        if let new, !new.isEmpty { return .found }
        return .success
    }

    private func audit(_ arguments: Arguments) -> Report { withAuditor(arguments) { $0.run() } }

    private func warn(of old: Report, _ new: Report) {
        guard Comparison.areUnrelated(old, new) else { return }
        writeError("audit: warning: the old report and the new one have no path in common\n")
    }

    /// Writes the changes as a diff, or applies them, and lists the remaining findings.
    private func fix(_ arguments: Arguments) throws -> Status {
        let fixes = withAuditor(arguments) { $0.fixes() }
        if arguments.writesFixes {
            let unsafe = arguments.writesUnsafely ? [] : WorkingCopy.unsafe(fixes.files.map(\.path))
            guard unsafe.isEmpty else {
                let names = unsafe.joined(separator: ", ")
                throw FileFailure(
                    message: "no file was changed: git does not track these files, or they have changes: \(names)")
            }
            FileReplacement.removeRemains(besides: fixes.left.map(\.finding.path))
            try FileReplacement.replace(fixes.files) { try write("\($0.shown)\n") }
        } else {
            try write(fixes.diff)
        }
        for left in fixes.left {
            let place = "\(left.finding.path.shown):\(left.finding.line):\(left.finding.column)"
            writeError("\(place): \(left.finding.pattern.id) is not rewritten: \(left.reason.shown)\n")
        }
        let files = "\(fixes.files.count) \(fixes.files.count == 1 ? "file" : "files")"
        writeError("\(fixes.rewritten.count) rewritten in \(files), \(fixes.left.count) left\n")
        return .success
    }

    private func withAuditor<Result>(_ arguments: Arguments, _ run: (Auditor) -> Result) -> Result {
        var auditor = Auditor(paths: arguments.paths)
        auditor.excluded = arguments.excluded
        auditor.indexStores = arguments.indexStores
        auditor.indexLibrary = arguments.indexLibrary
        auditor.usesIndex = arguments.usesIndex
        auditor.raisesPlatforms = arguments.raisesPlatforms
        if showsProgress {
            // Short runs show nothing. Long runs show a number that changes at most 100 times.
            var shown = -1
            let began = ContinuousClock.now
            auditor.progress = { done, all in
                let percent = done * 100 / max(1, all)
                guard percent != shown, began.duration(to: .now) > .milliseconds(500) else { return }
                shown = percent
                writeError("\r\(percent) %")
            }
            defer { if shown >= 0 { writeError("\r      \r") } }
            return run(auditor)
        }
        return run(auditor)
    }

    private func readReport(at path: String) throws -> Report {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw FileFailure(message: "\(path) cannot be read")
        }
        guard let report = try? JSONDecoder().decode(Report.self, from: data), report.schema == Report.schema else {
            throw FileFailure(message: "\(path) is not a report of this audit (schema \(Report.schema))")
        }
        return report
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            throw FileFailure(message: "\(path) cannot be written")
        }
    }
}

extension Report {
    func json() throws -> String { try JSONText.of(self) }

    /// The entries that are not in an earlier report, without those that a comment allows.
    func entries(notIn old: Report) -> [Entry] {
        let known = Set(old.findings.map(\.fingerprint))
        return findings.filter { $0.allowance == nil && !known.contains($0.fingerprint) }
    }
}

/// The JSON format of all reports. Equal reports have equal texts, and the text is indented for people.
enum JSONText {
    static func of(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }
}
