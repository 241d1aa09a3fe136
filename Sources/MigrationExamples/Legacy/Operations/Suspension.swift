import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Fills a queue before it may start, and pauses it in the middle: executing operations continue.
    public static func suspension(_ input: RecipeInput) throws -> RecipeResult {
        // region: suspension
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let journal = Journal()
        let writes = input.files.prefix(5).enumerated().map { index, file in
            BlockOperation {
                if index == 2 { queue.isSuspended = true }
                journal.write("\(file.size)")
            }
        }
        queue.addOperations(writes, waitUntilFinished: false)
        journal.write("\(queue.operationCount) wait")
        queue.isSuspended = false
        if writes.count > 2 {
            writes[2].waitUntilFinished()
            journal.write("\(writes.filter { !$0.isFinished }.count) wait")
            queue.isSuspended = false
        }
        queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
