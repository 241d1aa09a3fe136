public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Learns of the end of an operation by its completion handler.
    public static func completionBlock(_ input: RecipeInput) async throws -> RecipeResult {
        // region: completion-block
        let queue = TaskOperationQueue(isSuspended: true)
        let journal = Journal()
        let operation = queue.addOperation { journal.write("\(input.files.count) files") }
        operation.addCompletionHandler { journal.write("finished") }
        queue.isSuspended = false
        try await operation.value
        return journal.result
        // endregion
    }
}
