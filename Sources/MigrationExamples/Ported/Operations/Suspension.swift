public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Fills a queue before it may start operations, and suspends it later: executing operations continue.
    public static func suspension(_ input: RecipeInput) async throws -> RecipeResult {
        // region: suspension
        let journal = Journal()
        try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true)) { queue in
            let writes = input.files.prefix(5).enumerated().map { index, file in
                queue.addOperation {
                    if index == 2 { queue.isSuspended = true }
                    journal.write("\(file.size)")
                }
            }
            journal.write("\(queue.operationCount) wait")
            queue.isSuspended = false
            if writes.count > 2 {
                try await writes[2].value
                journal.write("\(writes.filter { !$0.isFinished }.count) wait")
                queue.isSuspended = false
            }
        }
        try Task.checkCancellation()
        return journal.result
        // endregion
    }
}
