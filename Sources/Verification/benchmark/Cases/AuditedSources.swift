import Foundation
import SourceAudit

extension Case {
    /// The cost of a line as code bases grow. The cost is constant if the audit is linear.
    static let audit = Case(
        "audit", "a line of source that is audited by names alone, in files of 500 lines",
        sizes: [1000, 10_000, 100_000, 1_000_000], isLong: true,
        subjects: [Subject(.audit, mostRounds: 5) { try AuditedSources(lines: $0).measure() }])
}

/// A code base in its own folder, which is deleted with the object.
private final class AuditedSources {
    private static let linesOfFile = 500

    private let folder = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID().uuidString)")
    private let lines: Int

    init(lines: Int) throws {
        self.lines = lines
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in 0..<(lines + Self.linesOfFile - 1) / Self.linesOfFile {
            let count = min(Self.linesOfFile, lines - file * Self.linesOfFile)
            try Data(Self.source(file, lines: count).utf8).write(to: folder.appending(path: "File\(file).swift"))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func measure() -> Measurement {
        var auditor = Auditor(paths: [folder.path])
        auditor.usesIndex = false
        let start = ContinuousClock.now
        let report = auditor.run()
        let elapsed = start.duration(to: .now)
        precondition(report.lines == lines, "\(report.lines) lines were read")
        return Measurement(elapsed, operations: lines)
    }

    /// Types that use the types of the previous file, with a pattern every few lines.
    private static func source(_ file: Int, lines: Int) -> String {
        var text: [String] = []
        var type = 0
        while text.count < lines {
            text += """
                /// Loads what belongs to one key, and keeps it.
                final class Loader\(file)x\(type): Operation, @unchecked Sendable {
                    private let lock = NSLock()
                    private var kept: [String: Data] = [:]
                    let before = Loader\(max(0, file - 1))x\(type)()

                    override func main() {
                        guard !isCancelled, let data = before.value(for: "key \\(type) of \\(file)") else { return }
                        lock.lock()
                        kept["a", default: Data()] = data
                        lock.unlock()
                        DispatchQueue.main.async { [weak self] in self?.done(data.count * 2 + \(type)) }
                    }

                    func value(for key: String) -> Data? {
                        let parts = key.split(separator: " ").map { String($0) }.filter { !$0.isEmpty }
                        return lock.withLock { kept[parts.joined(separator: "-")] ?? kept[key] }
                    }

                    private func done(_ count: Int) { print("done", count, separator: ": ") }
                }

                """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            type += 1
        }
        return text.prefix(lines).joined(separator: "\n") + "\n"
    }
}
