import Foundation
import SourceAudit
import TaskOperations

/// Writes to the standard error: lines, and on a terminal a progress line below them.
package final class Console: Sendable {
    private struct State: Sendable {
        /// The progress line that the terminal shows.
        var shown = ""
    }

    /// Whether the console can show a progress line.
    package let isTerminal: Bool

    private let write: @Sendable (String) -> Void
    private let state = Lock(State())

    /// - Parameter write: A function that writes text unchanged.
    package init(isTerminal: Bool, write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// The console of this process.
    package static let standardError = Console(
        isTerminal: isatty(STDERR_FILENO) == 1, write: StandardStreams.writeError)

    /// Writes a line above the progress line.
    package func report(_ line: String) {
        change { state in
            let text = Self.erased(state.shown) + "tour: \(line)\n"
            state.shown = ""
            return text
        }
    }

    /// Replaces the progress line. An empty text removes it.
    func show(progress line: String) {
        guard isTerminal else { return }
        change { state in
            let text = line == state.shown ? "" : Self.erased(state.shown) + line
            state.shown = line
            return text
        }
    }

    /// Changes the state and writes under one lock, so that the terminal always shows the state.
    private func change(_ textFor: (inout State) -> String) {
        state.withLock { state in
            let text = textFor(&state)
            if !text.isEmpty { write(text) }
        }
    }

    private static func erased(_ line: String) -> String {
        line.isEmpty ? "" : "\r\u{1B}[K"
    }
}
