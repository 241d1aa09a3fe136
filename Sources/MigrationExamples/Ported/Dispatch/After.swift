public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Writes a line after a delay.
    public static func after(_ input: RecipeInput) async throws -> RecipeResult {
        // region: after
        let journal = Journal()
        journal.write("asked")
        // No scope: the main queue belongs to the process. `run` cancels the operation if the caller is cancelled.
        try await TaskOperationQueue.main.run(.delay(.milliseconds(20))) { @MainActor in
            try await Task.sleep(for: .milliseconds(1))
            journal.write("\(input.files.count) files")
        }
        return journal.result
        // endregion
    }
}
