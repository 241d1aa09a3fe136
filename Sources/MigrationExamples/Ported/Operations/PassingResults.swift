public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Passes the result of one operation to the next.
    public static func passingResults(_ input: RecipeInput) async throws -> RecipeResult {
        // region: passing-results
        try await withTaskOperationQueue { queue in
            let list = queue.addOperation { input.sample.filter { $0.size > 0 } }
            let count = queue.addOperation(after: list) { files in
                files.reduce(0) { $0 + $1.lineCount() }
            }
            let text = queue.addOperation(after: list, count) { files, lines in
                "\(files.count) of \(input.sample.count) files, \(lines) lines"
            }
            return RecipeResult(try await text.value)
        }
        // endregion
    }
}
