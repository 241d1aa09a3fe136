import Foundation

/// A line on the terminal that says what is being measured; nothing where there is no terminal.
final class Progress {
    private let isShown = isatty(STDERR_FILENO) == 1
    private let total: Int
    private var begun = 0
    private var title = ""

    init(of total: Int) {
        self.total = total
    }

    func begin(_ title: String) {
        begun += 1
        self.title = title
    }

    func show(_ step: String) {
        write("[\(begun)/\(total)] \(title): \(step)")
    }

    func clear() {
        write("")
    }

    private func write(_ line: String) {
        if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K\(line)".utf8)) }
    }
}
