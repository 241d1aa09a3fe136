public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Adds an operation for each of many files, with a limited number of them waiting in the queue.
    public static func batches(_ input: RecipeInput) async throws -> RecipeResult {
        // region: batches
        let (waiting, lines) = (SharedCount(), SharedCount())
        try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 4, maxQueuedOperationCount: 28)) { queue in
            for file in input.sample {
                waiting.add(1)
                try await queue.addOperationWaitingForRoom {
                    lines.add(file.lineCount())
                    waiting.add(-1)
                }
            }
        }
        try Task.checkCancellation()
        // 4 executed and 28 waited in the queue, while one more waited for room.
        return RecipeResult("\(lines.total) lines, \(waiting.most <= 33 ? "32" : "more") at once at most")
        // endregion
    }

    // region: batches-chained
    /// A scope ends after its operations, so the next round of the loop adds the next batch.
    static func addBatches(of files: ArraySlice<InputFile>, _ lines: SharedCount) async throws {
        for start in stride(from: files.startIndex, to: files.endIndex, by: 32) {
            try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
                for file in files[start...].prefix(32) { queue.addOperation { lines.add(file.lineCount()) } }
            }
            try Task.checkCancellation()
        }
    }
    // endregion
}
