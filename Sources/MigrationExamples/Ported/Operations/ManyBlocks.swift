public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts the lines of every file in one operation of many blocks. The operation finishes when all blocks have
    /// finished.
    public static func manyBlocks(_ input: RecipeInput) async throws -> RecipeResult {
        // region: many-blocks
        try await withTaskOperationQueue { queue in
            let lines = SharedCount()
            let operation = queue.addOperation(name: "count") {
                await withTaskGroup { blocks in
                    for file in input.sample {
                        blocks.addTask { lines.add(file.lineCount()) }
                    }
                }
            }
            try await operation.value
            return RecipeResult("\(input.sample.count) blocks, \(lines.total) lines")
        }
        // endregion
    }
}
