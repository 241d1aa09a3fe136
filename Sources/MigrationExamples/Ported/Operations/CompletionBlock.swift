public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Does something after the end of an operation: on the next line.
    public static func completionBlock(_ input: RecipeInput) async throws -> RecipeResult {
        // region: completion-block
        let queue = TaskOperationQueue()
        let journal = Journal()
        try await queue.run { journal.write("\(input.files.count) files") }
        journal.write("finished")
        return journal.result
        // endregion
    }
}
