import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Cancels one operation that waits in a queue, and then all; none of them runs.
    public static func cancelling(_ input: RecipeInput) throws -> RecipeResult {
        // region: cancelling
        let queue = OperationQueue()
        queue.isSuspended = true
        let journal = Journal()
        let operations = input.files.map { file in BlockOperation { journal.write(file.name) } }
        queue.addOperations(operations, waitUntilFinished: false)
        operations.first?.cancel()
        journal.write("\(operations.filter(\.isCancelled).count) cancelled")
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        journal.write("\(operations.filter(\.isCancelled).count) cancelled")
        return journal.result
        // endregion
    }
}
