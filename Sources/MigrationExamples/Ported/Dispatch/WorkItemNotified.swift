public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Adds up sizes in an operation, and then shows the sum on the main actor.
    public static func workItemNotified(_ input: RecipeInput) async throws -> RecipeResult {
        // region: work-item-notified
        try await withTaskOperationQueue { queue in
            let sum = queue.addOperation(priority: .low) { input.files.reduce(0) { $0 + $1.size } }
            let shown = queue.addOperation(after: sum) { @MainActor bytes in "sum: \(bytes) bytes" }
            return RecipeResult(try await shown.value)
        }
        // endregion
    }
}
