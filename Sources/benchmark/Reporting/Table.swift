/// The figures as plain text, a line for each.
enum Table {
    static func text(_ figures: [Figure]) -> String {
        let cells = [header] + figures.map { row($0, in: figures) }
        let widths = header.indices.map { column in cells.map { $0[column].count }.max()! }
        let lines = cells.map { row in
            zip(row, widths).enumerated()
                .map { column, cell in cell.0.padded(to: cell.1, onLeft: column >= namingColumns) }
                .joined(separator: "  ")
        }
        return ([Machine.description, ""] + lines + [""] + Growth.lines(figures)).joined(separator: "\n")
    }

    /// The columns that hold words.
    private static let namingColumns = 2

    private static let header = [
        "case", "subject", "n", "rounds", "ns/op", "min", "max", "bytes/op", "threads", "ours/its",
    ]

    private static func row(_ figure: Figure, in figures: [Figure]) -> [String] {
        [
            figure.title, figure.subject.rawValue, figure.size.grouped, String(figure.rounds),
            figure.nsPerOperation.median.measured, figure.nsPerOperation.minimum.measured,
            figure.nsPerOperation.maximum.measured, figure.bytesPerOperation?.measured ?? "",
            figure.threads.map(String.init) ?? "", figures.ratio(to: figure)?.ratio ?? "",
        ]
    }
}

/// How the cost of an operation has grown between two sizes.
enum Growth {
    /// A line for each subject that was measured at several sizes: 1.00 is linear work, and 10 for ten times the
    /// size is quadratic work.
    static func lines(_ figures: [Figure]) -> [String] {
        var lines: [String] = []
        var seen: Set<String> = []
        for figure in figures where seen.insert(figure.title + figure.subject.rawValue).inserted {
            let all = figures.filter { $0.title == figure.title && $0.subject == figure.subject }
            guard let last = all.last, all.count > 1 else { continue }
            // The smallest size is mostly start and end where there are others.
            let first = all[all.count > 2 ? 1 : 0]
            lines.append(
                "\(figure.title), \(figure.subject.rawValue): an operation of \(last.size.grouped) costs "
                    + "\((last.cost / first.cost).ratio) times what one of \(first.size.grouped) does")
        }
        return lines
    }
}
