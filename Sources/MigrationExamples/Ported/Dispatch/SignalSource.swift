import Dispatch
import Foundation
public import MigrationExamplesSupport
import TaskOperationsBridge

extension Ported {
    /// Redraws when the process is continued, like a program that was stopped in its terminal.
    public static func signalSource(_ input: RecipeInput) async throws -> RecipeResult {
        // region: signal-source
        let journal = Journal()
        let signals = await DispatchSource.signalEvents(signal: SIGCONT)
        kill(getpid(), SIGCONT)
        for await _ in signals {
            journal.write("drawn with \(input.files.count) files")
            break
        }
        return journal.result
        // endregion
    }
}
