/// The table of README.md: a line for each case and a column for each subject.
enum Markdown {
    static func page(_ figures: [Figure]) -> String {
        let columns = SubjectName.allCases.filter { name in
            isColumn(name) && figures.contains { $0.subject == name }
        }
        let header = ["case", "operations", ours] + columns.map { "`\($0.rawValue)`" }
        let rows = comparisons(of: figures).map { row($0, columns) }
        return """
            \(Machine.description). \(explanation(figures))

            \(line(header))
            \(line(header.indices.map { $0 == 0 ? "---" : "---:" }))
            \(rows.map(line).joined(separator: "\n"))
            """
    }

    private static let ours = "this library"

    private static func explanation(_ figures: [Figure]) -> String {
        let rounds = figures.filter { $0.subject != .ideal }.map(\.rounds)
        return """
            Nanoseconds for an operation (bytes for `pending-memory`), the median of \(rounds.min() ?? 0) to \
            \(rounds.max() ?? 0) rounds in one process, the fewest where one takes seconds; in brackets the cost of \
            this library divided by that one, so that less than 1 is cheaper.
            """
    }

    /// This library has one column for its queue and its semaphore; what arithmetic says stands beside the case.
    private static func isColumn(_ name: SubjectName) -> Bool { !name.isOurs && name != .ideal }

    /// Figures that stand side by side, in the order of measuring.
    private static func comparisons(of figures: [Figure]) -> [[Figure]] {
        figures.reduce(into: []) { groups, figure in
            if let last = groups.last?.first, last.isComparable(to: figure) {
                groups[groups.count - 1].append(figure)
            } else {
                groups.append([figure])
            }
        }
    }

    private static func row(_ group: [Figure], _ columns: [SubjectName]) -> [String] {
        let ideal = group.first { $0.subject == .ideal }
        let note = ideal.map { ", ideal \(cell($0, in: group))" } ?? ""
        let first = group[0]
        return [first.title + note, first.size.grouped, group.first { $0.subject.isOurs }?.cost.measured ?? ""]
            + columns.map { name in group.first { $0.subject == name }.map { cell($0, in: group) } ?? "" }
    }

    private static func cell(_ figure: Figure, in group: [Figure]) -> String {
        figure.cost.measured + (group.ratio(to: figure).map { " (\($0.ratio))" } ?? "")
    }

    private static func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}
