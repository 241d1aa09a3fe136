public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads all files, counts once when they are read, and then continues.
    public static func barrierBlocks(_ input: RecipeInput) async throws -> RecipeResult {
        // region: barrier-blocks
        let journal = Journal()
        let sizes = Journal()
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            for file in input.files { queue.addOperation { sizes.write("\(file.size)") } }
            queue.addBarrier { journal.write("\(sizes.lines.count) before") }
            queue.addOperation { journal.write("after") }
        }
        try Task.checkCancellation()
        return journal.result
        // endregion
    }
}
