public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Runs an urgent operation, which is added last, before the others.
    public static func queuePriority(_ input: RecipeInput) async throws -> RecipeResult {
        // region: queue-priority
        let journal = Journal()
        try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true)) { queue in
            for file in input.files.prefix(5) {
                queue.addOperation { journal.write("\(file.name): \(file.size)") }
            }
            queue.addOperation(priority: .high) { journal.write("urgent") }
            queue.isSuspended = false
        }
        try Task.checkCancellation()
        return journal.result
        // endregion
    }
}
