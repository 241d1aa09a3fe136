/// The figures as plain text, one line each.
struct Table: Report {
    private let titleWidth: Int

    init(_ cases: [Case]) {
        titleWidth = cases.map(\.title.count).max() ?? 0
    }

    var head: String { Machine.description + "\n\n" + line(columns.map(\.name)) }

    func lines(_ comparison: [Figure]) -> [String] {
        comparison.map { figure in line(columns.map { $0.text(figure, comparison) }) }
    }

    func foot(_ figures: [Figure]) -> [String] { [""] + Growth.lines(figures) }

    private struct Column {
        let name: String
        let width: Int
        var holdsWords = false
        let text: (_ figure: Figure, _ comparison: [Figure]) -> String
    }

    private var columns: [Column] {
        let subjectWidth = SubjectName.allCases.map(\.rawValue.count).max() ?? 0
        return [
            Column(name: "case", width: titleWidth, holdsWords: true) { figure, _ in figure.title },
            Column(name: "subject", width: subjectWidth, holdsWords: true) { figure, _ in figure.subject.rawValue },
            Column(name: "n", width: 9) { figure, _ in figure.size.grouped },
            Column(name: "rounds", width: 6) { figure, _ in String(figure.rounds) },
            Column(name: "ns/op", width: 9) { figure, _ in figure.nsPerOperation.median.measured },
            Column(name: "min", width: 9) { figure, _ in figure.nsPerOperation.minimum.measured },
            Column(name: "max", width: 9) { figure, _ in figure.nsPerOperation.maximum.measured },
            Column(name: "bytes/op", width: 8) { figure, _ in figure.bytesPerOperation?.measured ?? "" },
            Column(name: "threads", width: 7) { figure, _ in figure.threads.map(String.init) ?? "" },
            Column(name: "ours/its", width: 8) { figure, comparison in comparison.ratio(to: figure)?.ratio ?? "" },
        ]
    }

    private func line(_ cells: [String]) -> String {
        zip(cells, columns).map { cell, column in cell.padded(to: column.width, onLeft: !column.holdsWords) }
            .joined(separator: "  ")
    }
}

/// How the cost of an operation has grown between two sizes.
enum Growth {
    /// A line for each subject that was measured at several sizes. For a tenfold size, 1.00 means linear work, and 10
    /// means quadratic work.
    static func lines(_ figures: [Figure]) -> [String] {
        var lines: [String] = []
        var seen: Set<String> = []
        for figure in figures where seen.insert(figure.title + figure.subject.rawValue).inserted {
            let all = figures.filter { $0.title == figure.title && $0.subject == figure.subject }
            guard let last = all.last, all.count > 1 else { continue }
            // With more than two sizes, the smallest is left out, because its cost is mostly that of the start and the
            // end.
            let first = all[all.count > 2 ? 1 : 0]
            lines.append(
                "\(figure.title), \(figure.subject.rawValue): with \(last.size.grouped) operations, each costs "
                    + "\((last.cost / first.cost).ratio) times as much as with \(first.size.grouped)")
        }
        return lines
    }
}
