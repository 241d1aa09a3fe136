public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts small files at once, because a user waits for them, and large ones when there is time.
    public static func qualityOfService(_ input: RecipeInput) async throws -> RecipeResult {
        // region: quality-of-service
        let queue = TaskOperationQueue()
        let counts = input.sample.map { file in
            queue.addOperation(priority: file.size < 4096 ? .high : .low) { file.lineCount() }
        }
        let urgent = counts.filter { $0.priority == .high }.count
        var lines = 0
        for count in counts { lines += try await count.value }
        return RecipeResult("\(urgent) urgent, \(lines) lines")
        // endregion
    }
}
