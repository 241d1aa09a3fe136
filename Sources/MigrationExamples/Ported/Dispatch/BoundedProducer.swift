public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts lines of files, with at most 8 files in progress.
    public static func boundedProducer(_ input: RecipeInput) async throws -> RecipeResult {
        // region: bounded-producer
        let (lines, underWay) = (SharedCount(), SharedCount())
        try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 4, maxQueuedOperationCount: 3)) { queue in
            for file in input.sample {
                underWay.add(1)
                try await queue.addOperationWaitingForRoom {
                    lines.add(file.lineCount())
                    underWay.add(-1)
                }
            }
        }
        try Task.checkCancellation()
        // 4 executed, 3 waited in the queue, and one waited for room.
        return RecipeResult("\(lines.total) lines, \(underWay.most <= 8 ? "at most 8 files" : "too many") under way")
        // endregion
    }
}
