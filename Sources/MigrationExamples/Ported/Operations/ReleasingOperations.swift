public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Keeps operations for their results, but releases their inputs.
    public static func releasingOperations(_ input: RecipeInput) async throws -> RecipeResult {
        // region: releasing-operations
        try await withTaskOperationQueue { queue in
            let alive = SharedCount()
            let operations = input.sample.map { file in
                let buffer = Buffer(of: file, counted: alive)
                return queue.addOperation { buffer.bytes.lineCount }
            }
            var lines = 0
            for operation in operations { lines += try await operation.value }
            return RecipeResult("\(operations.count) kept, \(lines) lines, \(alive.total) buffers alive")
        }
        // endregion
    }
}
