public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Waits for a whole graph of operations by waiting for the end of a scope.
    public static func lastOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: last-operation
        let journal = Journal()
        try await withTaskOperationQueue { queue in
            _ = queue.addOperation { journal.write("\(input.files.count) files written") }
        }
        try Task.checkCancellation()
        journal.write("over")
        return journal.result
        // endregion
    }
}
