public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads files. Each file that is a text causes a further operation.
    public static func producedOperations(_ input: RecipeInput) async throws -> RecipeResult {
        // region: produced-operations
        let (lines, produced) = (SharedCount(), SharedCount())
        try await withTaskOperationQueue(failures: .ignore) { queue in
            for file in input.sample {
                // A file that cannot be read has nothing follow it.
                _ = queue.addOperation {
                    let text = try file.text()
                    produced.add(1)
                    TaskOperationQueue.current?.addOperation { lines.add(text.lineCount) }
                }
            }
        }
        try Task.checkCancellation()
        return RecipeResult("\(produced.total) produced, \(lines.total) lines")
        // endregion
    }
}
