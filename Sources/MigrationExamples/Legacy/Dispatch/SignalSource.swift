import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Draws when the process is continued, as a program does that was stopped in its terminal.
    public static func signalSource(_ input: RecipeInput) throws -> RecipeResult {
        // region: signal-source
        let journal = Journal()
        let isOver = DispatchSemaphore(value: 0)
        let source = DispatchSource.makeSignalSource(signal: SIGCONT, queue: DispatchQueue(label: "signals"))
        source.setEventHandler {
            journal.write("drawn with \(input.files.count) files")
            source.cancel()
        }
        source.setCancelHandler { isOver.signal() }
        source.setRegistrationHandler { kill(getpid(), SIGCONT) }
        source.activate()
        isOver.wait()
        return journal.result
        // endregion
    }
}
