public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts the lines of every file in one operation of many blocks. The operation finishes when all blocks have
    /// finished.
    public static func manyBlocks(_ input: RecipeInput) async throws -> RecipeResult {
        // region: many-blocks
        try await withTaskOperationQueue { queue in
            let lines = SharedCount()
            let operation = TaskOperation(name: "count") {}
            for file in input.sample {
                try operation.addBody { lines.add(file.lineCount()) }
            }
            try queue.addOperation(operation)
            try await operation.value
            return RecipeResult("\(input.sample.count) blocks, \(lines.total) lines")
        }
        // endregion
    }
}
