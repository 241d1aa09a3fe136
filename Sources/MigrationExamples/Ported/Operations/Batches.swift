public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Adds files without end in sight so that only so many of them wait in the queue.
    public static func batches(_ input: RecipeInput) async throws -> RecipeResult {
        // region: batches
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let (waiting, lines) = (SharedCount(), SharedCount())
        let room = AsyncSemaphore(capacity: 32)
        for file in input.sample {
            try await room.acquire()
            waiting.add(1)
            let operation = queue.addOperation {
                lines.add(file.lineCount())
                waiting.add(-1)
            }
            operation.addCompletionHandler { room.release() }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(lines.total) lines, \(waiting.most <= 32 ? "32" : "more") at once at most")
        // endregion
    }
}
