import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Fills a suspended queue, and resumes it.
    public static func suspension(_ input: RecipeInput) throws -> RecipeResult {
        // region: suspension
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let journal = Journal()
        for file in input.files.prefix(5) {
            queue.addOperation { journal.write("\(file.size)") }
        }
        journal.write("\(queue.operationCount) wait")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
