/// The table of README.md, with a line for each case and a column for each subject.
struct Markdown: Report {
    private let columns: [SubjectName]

    /// - Parameter subjects: The measured subjects; nil for all subjects of the cases.
    init(_ cases: [Case], subjects: Set<SubjectName>? = nil) {
        let measured = Set(cases.flatMap { $0.subjects.map(\.name) }).intersection(
            subjects ?? Set(SubjectName.allCases))
        columns = SubjectName.allCases.filter { Self.isColumn($0) && measured.contains($0) }
    }

    var head: String {
        let names = ["case", "operations", "this library"] + columns.map { "`\($0.rawValue)`" }
        return """
            \(Machine.description).

            \(line(names))
            \(line(names.indices.map { $0 == 0 ? "---" : "---:" }))
            """
    }

    func lines(_ comparison: [Figure]) -> [String] {
        guard let first = comparison.first else { return [] }
        let ideal = comparison.first { $0.subject == .ideal }
        let note = ideal.map { ", ideal \(cell($0, in: comparison))" } ?? ""
        let ours = comparison.first { $0.subject.isOurs }?.cost.measured ?? ""
        let others = columns.map { name in
            comparison.first { $0.subject == name }.map { cell($0, in: comparison) } ?? ""
        }
        return [line([first.title + note, first.size.grouped, ours] + others)]
    }

    func foot(_ figures: [Figure]) -> [String] {
        let rounds = figures.filter { $0.subject != .ideal }.map(\.rounds)
        return [
            "",
            """
            Nanoseconds for an operation (bytes for `pending-memory`): medians of \(rounds.min() ?? 0) to \
            \(rounds.max() ?? 0) rounds in one process. The number in brackets is the cost of this library divided by \
            that of the alternative; below 1, this library is cheaper.
            """,
        ]
    }

    /// Whether a subject has its own column. One column of this library contains its queue and its semaphore. The
    /// arithmetic limit is part of the case.
    private static func isColumn(_ name: SubjectName) -> Bool { !name.isOurs && name != .ideal }

    private func cell(_ figure: Figure, in comparison: [Figure]) -> String {
        figure.cost.measured + (comparison.ratio(to: figure).map { " (\($0.ratio))" } ?? "")
    }

    private func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}
