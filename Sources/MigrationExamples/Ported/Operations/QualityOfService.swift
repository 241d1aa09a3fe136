public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts the lines of small files with high priority because a user waits for them, and of large files with low
    /// priority.
    public static func qualityOfService(_ input: RecipeInput) async throws -> RecipeResult {
        // region: quality-of-service
        try await withTaskOperationQueue { queue in
            let counts = input.sample.map { file in
                queue.addOperation(priority: file.size < 4096 ? .high : .low) { file.lineCount() }
            }
            let urgent = counts.filter { $0.priority == .high }.count
            var lines = 0
            for count in counts { lines += try await count.value }
            return RecipeResult("\(urgent) urgent, \(lines) lines")
        }
        // endregion
    }
}
