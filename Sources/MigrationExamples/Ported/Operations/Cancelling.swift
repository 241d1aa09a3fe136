public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Cancels one operation that waits in a queue, and then all others. None of them runs.
    public static func cancelling(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cancelling
        try await withTaskOperationQueue(.init(isSuspended: true)) { queue in
            let journal = Journal()
            let operations = input.files.map { file in queue.addOperation { journal.write(file.name) } }
            operations.first?.cancel()
            journal.write("\(operations.filter(\.isCancelled).count) cancelled")
            queue.cancelAllOperations()
            try await queue.waitUntilAllOperationsAreFinished()
            try Task.checkCancellation()
            journal.write("\(operations.filter(\.isCancelled).count) cancelled")
            return journal.result
        }
        // endregion
    }
}
