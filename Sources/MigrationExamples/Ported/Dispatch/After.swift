public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Writes a line after a delay.
    public static func after(_ input: RecipeInput) async throws -> RecipeResult {
        // region: after
        let journal = Journal()
        journal.write("asked")
        let prompt = TaskOperationQueue.main.addOperation(.delay(.milliseconds(20))) { @MainActor in
            try await Task.sleep(for: .milliseconds(1))
            journal.write("\(input.files.count) files")
        }
        try await prompt.value
        return journal.result
        // endregion
    }
}
