public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads all files, counts once when they are read, and then continues.
    public static func barrierBlocks(_ input: RecipeInput) async throws -> RecipeResult {
        // region: barrier-blocks
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let journal = Journal()
        let sizes = Journal()
        for file in input.files { queue.addOperation { sizes.write("\(file.size)") } }
        queue.addBarrier { journal.write("\(sizes.lines.count) before") }
        queue.addOperation { journal.write("after") }
        try await queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
