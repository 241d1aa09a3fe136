import Dispatch
public import MigrationExamplesSupport
import TaskOperationsBridge

extension Ported {
    /// Shows one file at each tick of a timer, until there are no more.
    public static func timerSource(_ input: RecipeInput) async throws -> RecipeResult {
        // region: timer-source
        var files = input.files.prefix(5)
        let journal = Journal()
        for await _ in DispatchSource.timerEvents(deadline: .now(), repeating: .milliseconds(5)) {
            guard let file = files.popFirst() else { break }
            journal.write("\(file.size)")
        }
        return journal.result
        // endregion
    }
}
