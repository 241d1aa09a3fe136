import Foundation
import TaskOperationsDiagnosis

/// Shows a recording in a terminal twice a second, and reacts to keys as `top` does.
struct WatchTerminal {
    private let path: String
    private let output: (String) throws -> Void

    init(path: String, _ output: @escaping (String) throws -> Void) {
        self.path = path
        self.output = output
    }

    func run() throws {
        var former = termios()
        tcgetattr(STDIN_FILENO, &former)
        var raw = former
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        // The alternate screen, without a cursor.
        try output("\u{1B}[?1049h\u{1B}[?25l")
        defer {
            try? output("\u{1B}[?25h\u{1B}[?1049l")
            tcsetattr(STDIN_FILENO, TCSANOW, &former)
        }
        var (view, isPaused) = (WatchView(), false)
        var trace = try Trace(contentsOf: path)
        while true {
            try draw(trace, view, isPaused)
            switch key() {
            case "q", "\u{3}": return
            case "p", " ": isPaused.toggle()
            case "s": view.order = WatchView.Order.allCases.following(view.order)
            case "j", "down": view.selected = min((view.selected ?? -1) + 1, view.rowCount(of: trace) - 1)
            case "k", "up": view.selected = view.selected.flatMap { $0 > 0 ? $0 - 1 : nil }
            case "escape": view.selected = nil
            default: break
            }
            if Task.isCancelled { return }
            if !isPaused { trace = try Trace(contentsOf: path) }
        }
    }

    private func draw(_ trace: Trace, _ view: WatchView, _ isPaused: Bool) throws {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0
        let (height, width) = isKnown ? (Int(size.ws_row), Int(size.ws_col)) : (24, 80)
        let lines = view.text(of: trace, height: height - 1).split(separator: "\n", omittingEmptySubsequences: false)
        let keys = "q quit  p \(isPaused ? "continue" : "pause")  s order: \(view.order)  arrows select a queue"
        let body = (lines.dropLast() + [Substring(keys)]).map { $0.prefix(width) + "\u{1B}[K" }
        try output("\u{1B}[H" + body.joined(separator: "\r\n") + "\u{1B}[J")
    }

    /// Waits for a key for half a second. Returns its name; nil if there was none.
    private func key() -> String? {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 500) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        // The terminal was closed.
        if count <= 0 { return "q" }
        return switch String(decoding: bytes.prefix(count), as: UTF8.self) {
        case "\u{1B}[A", "\u{1B}OA": "up"
        case "\u{1B}[B", "\u{1B}OB": "down"
        case "\u{1B}": "escape"
        case let other: other
        }
    }
}

extension Array where Element: Equatable {
    fileprivate func following(_ element: Element) -> Element { self[(firstIndex(of: element)! + 1) % count] }
}
