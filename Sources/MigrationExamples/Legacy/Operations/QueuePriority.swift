import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Lets the last file of a line overtake the others.
    public static func queuePriority(_ input: RecipeInput) throws -> RecipeResult {
        // region: queue-priority
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let journal = Journal()
        for file in input.files.prefix(5) {
            queue.addOperation { journal.write("\(file.name): \(file.size)") }
        }
        let urgent = BlockOperation { journal.write("urgent") }
        urgent.queuePriority = .high
        queue.addOperation(urgent)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
