import TaskOperations

/// The current step of the tour, in one line on the terminal.
final class Progress: Sendable {
    private struct Step: Sendable {
        let text: String
        let start = ContinuousClock.now
        var lastDrawn: ContinuousClock.Instant?
    }

    private let console: Console
    private let step = Lock<Step?>(nil)

    init(on console: Console) {
        self.console = console
    }

    /// Begins the next step.
    func begin(_ text: String) {
        step.withLock { $0 = Step(text: text) }
        draw()
    }

    /// Draws the line, at most ten times a second.
    func draw() {
        guard console.isTerminal else { return }
        step.withLock { step in
            let now = ContinuousClock.now
            guard let begun = step, begun.lastDrawn.map({ now - $0 >= .milliseconds(100) }) ?? true else { return }
            step?.lastDrawn = now
            console.show(progress: "\(begun.text), \((now - begun.start).components.seconds) s")
        }
    }

    /// Ends the progress.
    func end() {
        step.withLock { step in
            step = nil
            console.show(progress: "")
        }
    }
}
