// Writes measured figures into the tables and sentences that quote them: figures ALTERNATIVES OPTIONS
//
// Both are files of `benchmark --json`. Called by .ci/figures.

import Foundation

struct Row: Decodable {
    let `case`: String
    let variant: String?
    let subject: String
    let n: Int
    let nsPerOperation: Double
    let bytesPerOperation: Double?

    var cost: Double { bytesPerOperation ?? nsPerOperation }
}

func rows(_ path: String) throws -> [Row] {
    try JSONDecoder().decode([Row].self, from: Data(contentsOf: URL(filePath: path)))
}

let alternatives = try rows(CommandLine.arguments[1])
let options = try rows(CommandLine.arguments[2])

func cost(_ rows: [Row], _ name: String, _ subject: String) -> Double? {
    rows.last { $0.case == name && $0.subject == subject && [nil, "median"].contains($0.variant) }?.cost
}

func number(_ value: Double) -> String {
    var digits = String(Int(value.rounded()))
    for place in stride(from: digits.count - 3, to: 0, by: -3) {
        digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
    }
    return digits
}

func ratio(_ value: Double) -> String {
    String(format: value < 0.01 ? "%.4f" : value < 9.95 ? "%.2f" : "%.0f", value)
}

/// The rows of the table of alternatives, by the case that measures each.
let titles = [
    ("independent", "100,000 independent, width 2"), ("independent-batch", "the same, in one `addOperations`"),
    ("adding", "the same, only the additions of the main thread"),
    ("contended-add", "the same, added by 8 threads at once"), ("chain", "a chain of 10,000 dependencies"),
    ("latency", "added to an idle queue, until the body starts"),
    ("pending-memory", "bytes for an operation that waits"),
]

func tableRow(_ name: String, _ title: String) -> String? {
    guard let ours = cost(alternatives, name, "TaskOperationQueue") else { return nil }
    let cells = ["OperationQueue", "DispatchQueue", "TaskGroup-next", "Task"].map { subject in
        cost(alternatives, name, subject).map { "\(number($0)) (\(ratio(ours / $0)))" } ?? ""
    }
    return "| \(([title, number(ours)] + cells).joined(separator: " | ")) |".replacing("|  |", with: "| |")
        .replacing("|  |", with: "| |")
}

/// The rows of the table of options.
let optionTitles = [
    ("TaskOperationQueue", "none"), ("name", "`name`"), ("priority", "`priority`"),
    ("dependencies", "`dependencies`, one that has finished"), ("weight", "`weight`"),
    ("retry", "`retry`, without a failure"), ("limited", "`limit`, one semaphore"), ("timeout", "`timeout`"),
    ("timeout-abandon", "`timeout` with `overrun(.abandon)`"), ("starting-within", "`timeout(untilStart:)`"),
    ("ending-within", "`timeout(untilEnd:)`"), ("attemptTimeout", "`timeout(perAttempt:)`"),
    ("all-options", "all of these, without dependencies"),
]

func optionRow(_ subject: String, _ title: String) -> String? {
    guard let plain = cost(options, "options", "TaskOperationQueue"), let own = cost(options, "options", subject) else {
        return nil
    }
    return "| \(title) | \(number(own)) | \(String(format: "%.1f", own / plain)) |"
}

/// Replaces each line of a file that begins like one of these rows, and text by pattern.
func rewrite(_ path: String, rows: [(title: String, text: String?)] = [], _ patterns: [(String, String)] = []) throws {
    let url = URL(filePath: path)
    var text = try String(contentsOf: url, encoding: .utf8)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (title, row) in rows {
        guard let row, let index = lines.firstIndex(where: { $0.hasPrefix("| \(title) |") }) else { continue }
        lines[index] = row
    }
    text = lines.joined(separator: "\n")
    for (pattern, replacement) in patterns {
        let found = try Regex(pattern)
        if text.firstMatch(of: found) == nil { FileHandle.standardError.write(Data("\(path) has no \(pattern)\n".utf8)) }
        text = text.replacing(found, with: replacement)
    }
    try text.write(to: url, atomically: true, encoding: .utf8)
}

let articles = "Sources/TaskOperations/TaskOperations.docc"
let alternativeRows = titles.map { (title: $0.1, text: tableRow($0.0, $0.1)) }
let lending = ["whenNeeded", "always", "never"].map { cost(options, "lending", $0)! }
try rewrite("README.md", rows: alternativeRows)
try rewrite(
    "\(articles)/Cost.md", rows: alternativeRows + optionTitles.map { (title: $0.1, text: optionRow($0.0, $0.1)) },
    [
        (
            #"one operation costs [\d,]+ ns with `lending: .whenNeeded`, [\d,]+ ns with `.always` \([\d.]+ times as much\), and [\d,]+ ns with `.never`"#,
            "one operation costs \(number(lending[0])) ns with `lending: .whenNeeded`, \(number(lending[1])) ns with "
                + "`.always` (\(String(format: "%.1f", lending[1] / lending[0])) times as much), and \(number(lending[2])) ns with `.never`"
        )
    ])

let independent = cost(alternatives, "independent", "TaskOperationQueue")!
let legacy = cost(alternatives, "independent", "OperationQueue")!
let bytes = cost(alternatives, "pending-memory", "TaskOperationQueue")!
let taskBytes = cost(alternatives, "pending-memory", "Task")!
try rewrite(
    "Sources/MigrationExamples/Recipes/Operations/ChunkedOperations.md", rows: [],
    [(#"\([\d.]+ in \[the table\]"#, "(\(ratio(independent / legacy)) in [the table]")])
try rewrite(
    "Migration.md", rows: [],
    [
        (#"100,000 suspended tasks take some \d+ MB"#, "100,000 suspended tasks take some \(Int(taskBytes.rounded()) / 10) MB"),
        (#"as many waiting operations \d+ MB"#, "as many waiting operations \((Int(bytes.rounded()) + 5) / 10) MB"),
    ])
try rewrite(
    "\(articles)/ComingFrom.md", rows: [],
    [
        (#"100,000 suspended tasks take about \d+ MB"#, "100,000 suspended tasks take about \(Int(taskBytes.rounded()) / 10) MB"),
        (#"100,000 waiting operations \d+ MB"#, "100,000 waiting operations \((Int(bytes.rounded()) + 5) / 10) MB"),
    ])
