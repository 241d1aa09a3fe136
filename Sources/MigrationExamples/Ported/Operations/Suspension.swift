public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Fills a suspended queue, and resumes it.
    public static func suspension(_ input: RecipeInput) async throws -> RecipeResult {
        // region: suspension
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        let journal = Journal()
        for file in input.files.prefix(5) {
            queue.addOperation { journal.write("\(file.size)") }
        }
        journal.write("\(queue.operationCount) wait")
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
