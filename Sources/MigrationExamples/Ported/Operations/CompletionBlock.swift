public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Executes code after the end of an operation: the code is on the next line.
    public static func completionBlock(_ input: RecipeInput) async throws -> RecipeResult {
        // region: completion-block
        try await withTaskOperationQueue { queue in
            let journal = Journal()
            try await queue.run { journal.write("\(input.files.count) files") }
            journal.write("finished")
            return journal.result
        }
        // endregion
    }
}
