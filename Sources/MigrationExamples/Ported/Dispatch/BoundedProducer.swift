public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts lines of files, with at most 8 files in progress.
    public static func boundedProducer(_ input: RecipeInput) async throws -> RecipeResult {
        // region: bounded-producer
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 4, maxQueuedOperationCount: 4))
        let lines = SharedCount()
        var most = 0
        for file in input.sample {
            try await queue.addOperationWaitingForRoom { lines.add(file.lineCount()) }
            most = max(most, queue.operationCount)
        }
        try await queue.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(lines.total) lines, \(most <= 8 ? "at most 8 files" : "too many") under way")
        // endregion
    }
}
