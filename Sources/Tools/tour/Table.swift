import Foundation
import MigrationExamplesSupport

/// The printed output of the tour. Each recipe has two rows, so that the two results are one below the other.
struct Table {
    private static let heading = ["recipe", "side", "result", "seconds", "threads", ""]
    private static let longestResult = 60

    private let comparisons: [Comparison]
    private let folder: InputFolder

    init(of comparisons: [Comparison], over folder: InputFolder) {
        self.comparisons = comparisons
        self.folder = folder
    }

    /// The whole table, including line breaks; empty without results.
    var text: String {
        if comparisons.isEmpty { return "" }
        var lines = ["\(folder.path): \(folder.files.count) files, \(folder.size) bytes", ""]
        lines += Self.aligned([Self.heading] + comparisons.flatMap(Self.rows))
        lines += ["", "Both sides agree in \(comparisons.count(where: \.agree)) of \(comparisons.count) recipes."]
        for comparison in comparisons where !comparison.agree {
            lines += ["", "\(comparison.recipe), in full:"]
            lines += ["  legacy  \(comparison.legacy.text)", "  ported  \(comparison.ported.text)"]
        }
        #if DEBUG
            lines.append("This is a debug build. For meaningful times, use: swift run -c release tour")
        #endif
        return lines.map { $0 + "\n" }.joined()
    }

    private static func rows(of comparison: Comparison) -> [[String]] {
        [
            [comparison.recipe, "legacy"] + cells(of: comparison.legacy) + [""],
            ["", "ported"] + cells(of: comparison.ported) + [comparison.agree ? "agree" : "differ"],
        ]
    }

    private static func cells(of side: SideReport) -> [String] {
        [shortened(side.text), String(format: "%.3f", side.seconds), side.threads.map(String.init) ?? "-"]
    }

    private static func shortened(_ text: String) -> String {
        text.count <= longestResult ? text : text.prefix(longestResult - 1) + "…"
    }

    /// The lines of a table whose columns are aligned.
    static func aligned(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
            let line = cells.joined(separator: "  ")
            return String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count))
        }
    }
}
