public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Says something after a moment.
    public static func after(_ input: RecipeInput) async throws -> RecipeResult {
        // region: after
        let journal = Journal()
        journal.write("asked")
        let prompt = TaskOperationQueue.main.addOperation(.delay(.milliseconds(20))) { @MainActor in
            journal.write("\(input.files.count) files")
        }
        try await prompt.value
        return journal.result
        // endregion
    }
}
