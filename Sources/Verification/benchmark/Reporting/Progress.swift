import Foundation
import SourceAudit

/// Reports the current measurement on the standard error: on a terminal in one line that changes, otherwise in one line
/// at the beginning of each case.
final class Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let total: Int
    private var begun = 0
    private var title = ""

    init(of total: Int) {
        self.total = total
    }

    func begin(_ title: String) {
        begun += 1
        self.title = title
        if !isTerminal { StandardStreams.writeError("[\(begun)/\(total)] \(title)\n") }
    }

    func show(_ step: String) {
        if isTerminal { StandardStreams.writeError("\r\u{1B}[K[\(begun)/\(total)] \(title): \(step)") }
    }

    /// Prints a line that remains.
    func note(_ line: String) {
        clear()
        StandardStreams.writeError("benchmark: \(line)\n")
    }

    func clear() {
        if isTerminal { StandardStreams.writeError("\r\u{1B}[K") }
    }
}
