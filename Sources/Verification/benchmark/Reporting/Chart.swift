import Foundation

/// Draws the figures of `growth`: the cost of an operation against the number of operations, on logarithmic axes, with
/// a panel for each kind of work. Linear work is a horizontal line; quadratic work has a positive slope.
enum Chart {
    static let caseName = "growth"

    static func svg(_ figures: [Figure]) -> String {
        let figures = figures.filter { $0.caseName == caseName }
        let sizes = LogarithmicAxis(figures.map { Double($0.size) }, pixels: 0...Layout.plot.width)
        let costs = LogarithmicAxis(figures.map(\.nsPerOperation.median), pixels: 0...Layout.plot.height)
        let kinds = figures.map(\.variant).reduce(into: [String?]()) { if !$0.contains($1) { $0.append($1) } }
        let panels = kinds.enumerated().map { column, kind in
            let panel = Panel(figures: figures.filter { $0.variant == kind }, sizes: sizes, costs: costs)
            return SVG.group(
                x: Layout.left + Double(column) * (Layout.plot.width + Layout.gap), y: Layout.top,
                panel.grid(withLabels: column == 0) + panel.lines
                    + [SVG.text(kind ?? "", x: Layout.plot.width / 2, y: -12, class: "title")])
        }
        let subjects = SubjectName.allCases.filter { name in figures.contains { $0.subject == name } }
        let width =
            Layout.left
            + max(
                Double(kinds.count) * (Layout.plot.width + Layout.gap), Double(subjects.count) * Layout.legendEntry)
        return SVG.document(
            width: width, height: Layout.top + Layout.plot.height + Layout.bottom, style: style,
            title: "Cost of an operation against the number of operations", legend(subjects) + panels)
    }

    fileprivate enum Layout {
        static let plot = (width: 260.0, height: 300.0)
        static let left = 76.0
        static let top = 72.0
        static let gap = 28.0
        static let bottom = 52.0
        static let legendEntry = 170.0
    }

    private static func legend(_ subjects: [SubjectName]) -> [String] {
        subjects.enumerated().flatMap { column, subject in
            let x = Layout.left + Double(column) * Layout.legendEntry
            return [
                SVG.line([(x, 20), (x + 24, 20)], class: subject.rawValue),
                SVG.text(subject.rawValue, x: x + 30, y: 24, class: "legend"),
            ]
        }
    }

    private static let style = """
        text { font: 12px system-ui, sans-serif; fill: #444; text-anchor: middle }
        .title { font-weight: 600 } .legend { text-anchor: start } .cost { text-anchor: end }
        .paper { fill: #fff } .grid { stroke: #ddd; stroke-width: 1 }
        polyline { fill: none; stroke-width: 2.5 } .TaskOperationQueue { stroke-width: 4 }
        .TaskOperationQueue { stroke: #d6401f } .OperationQueue { stroke: #3367c9 }
        .DispatchQueue { stroke: #23893f } .Task { stroke: #8a4fc4 }
        @media (prefers-color-scheme: dark) {
          text { fill: #ccc } .paper { fill: #0d1117 } .grid { stroke: #30363d }
          .TaskOperationQueue { stroke: #ff7b57 } .OperationQueue { stroke: #6ea8fe }
          .DispatchQueue { stroke: #4cc26c } .Task { stroke: #bd93f0 }
        }
        """
}

/// The panel for one kind of work.
private struct Panel {
    let figures: [Figure]
    let sizes: LogarithmicAxis
    let costs: LogarithmicAxis

    private var height: Double { Chart.Layout.plot.height }
    private var width: Double { Chart.Layout.plot.width }

    func grid(withLabels: Bool) -> [String] {
        let vertical = sizes.decades.flatMap { size in
            let x = sizes.position(of: size)
            return [
                SVG.line([(x, 0), (x, height)], class: "grid"),
                SVG.text(label(size: size), x: x, y: height + 18, class: "size"),
            ]
        }
        let horizontal = costs.decades.flatMap { cost in
            let y = height - costs.position(of: cost)
            return [SVG.line([(0, y), (width, y)], class: "grid")]
                + (withLabels ? [SVG.text(label(nanoseconds: cost), x: -8, y: y + 4, class: "cost")] : [])
        }
        return vertical + horizontal
            + [SVG.text("operations", x: width / 2, y: height + 38, class: "size")]
    }

    var lines: [String] {
        SubjectName.allCases.compactMap { subject in
            let points = figures.filter { $0.subject == subject }.map { figure in
                (
                    sizes.position(of: Double(figure.size)),
                    height - costs.position(of: figure.nsPerOperation.median)
                )
            }
            return points.isEmpty ? nil : SVG.line(points, class: subject.rawValue)
        }
    }

    /// Returns a label that is short enough for the gap between two panels.
    private func label(size: Double) -> String {
        switch size {
        case ..<1e3: "\(Int(size))"
        case ..<1e6: "\(Int(size / 1e3))k"
        case ..<1e9: "\(Int(size / 1e6))M"
        default: "\(Int(size / 1e9))G"
        }
    }

    private func label(nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1e3: "\(Int(nanoseconds)) ns"
        case ..<1e6: "\(Int(nanoseconds / 1e3)) µs"
        case ..<1e9: "\(Int(nanoseconds / 1e6)) ms"
        default: "\(Int(nanoseconds / 1e9)) s"
        }
    }
}

/// Converts values to positions on a logarithmic axis of whole decades.
struct LogarithmicAxis {
    private let first: Int
    private let last: Int
    private let pixels: ClosedRange<Double>

    init(_ values: [Double], pixels: ClosedRange<Double>) {
        first = Int(log10(values.min() ?? 1).rounded(.down))
        last = max(first + 1, Int(log10(values.max() ?? 1).rounded(.up)))
        self.pixels = pixels
    }

    var decades: [Double] { (first...last).map { pow(10, Double($0)) } }

    func position(of value: Double) -> Double {
        let part = (log10(value) - Double(first)) / Double(last - first)
        return pixels.lowerBound + part * (pixels.upperBound - pixels.lowerBound)
    }
}
