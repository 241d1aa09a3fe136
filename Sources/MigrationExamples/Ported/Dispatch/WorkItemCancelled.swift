public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Cancels all waiting work items of a queue except the first.
    public static func workItemCancelled(_ input: RecipeInput) async throws -> RecipeResult {
        // region: work-item-cancelled
        try await withTaskOperationQueue(.init(name: "items", maxConcurrentOperationCount: 1, isSuspended: true)) {
            queue in
            let journal = Journal()
            let items = input.files.prefix(5).map { file in queue.addOperation { journal.write("\(file.size)") } }
            for item in items.dropFirst() { item.cancel() }
            queue.isSuspended = false
            try await queue.waitUntilAllOperationsAreFinished()
            try Task.checkCancellation()
            journal.write("\(items.filter(\.isCancelled).count) cancelled")
            return journal.result
        }
        // endregion
    }
}
