import TaskDump
import TaskOperations
import TaskOperationsDiagnosis

/// The SVG elements of a chart.
enum SVG {
    static func document(
        width: Double, height: Double, style: String, title: String, _ elements: [String]
    ) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
        width="\(number(width))" height="\(number(height))" role="img">
        <title>\(escaped(title))</title>
        <style>
        \(style)
        </style>
        <rect class="paper" width="100%" height="100%"/>
        \(elements.joined(separator: "\n"))
        </svg>
        """
    }

    static func group(x: Double, y: Double, _ elements: [String]) -> String {
        "<g transform=\"translate(\(number(x)) \(number(y)))\">\n\(elements.joined(separator: "\n"))\n</g>"
    }

    static func line(_ points: [(x: Double, y: Double)], class name: String) -> String {
        let list = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
        return "<polyline class=\"\(name)\" points=\"\(list)\"/>"
    }

    static func text(_ text: String, x: Double, y: Double, class name: String) -> String {
        "<text class=\"\(name)\" x=\"\(number(x))\" y=\"\(number(y))\">\(escaped(text))</text>"
    }

    /// A coordinate, rounded to a tenth of a pixel.
    private static func number(_ value: Double) -> String {
        value.rounded() == value ? String(Int(value)) : value.rounded(to: 1).filter { $0 != "," }
    }

    private static func escaped(_ text: String) -> String {
        text.onOneLine.replacingScalars { scalar in
            switch scalar {
            case "<": "&lt;"
            case "&": "&amp;"
            default: nil
            }
        }
    }
}
