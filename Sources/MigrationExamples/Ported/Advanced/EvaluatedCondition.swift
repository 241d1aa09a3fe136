public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts the lines of the files that meet a condition.
    public static func evaluatedCondition(_ input: RecipeInput) async throws -> RecipeResult {
        // region: evaluated-condition
        try await withTaskOperationQueue(failures: .ignore) { queue in
            let counts = input.sample.map { file in
                let isText = queue.addOperation(name: "is text") { _ = try file.text() }
                return queue.addOperation(name: "count", after: isText) { file.lineCount() }
            }
            var (lines, refused) = (0, 0)
            for count in counts {
                do {
                    lines += try await count.value
                } catch {
                    guard count.failure is TaskOperationError else { throw error }
                    refused += 1
                }
            }
            return RecipeResult("\(lines) lines, \(refused) refused")
        }
        // endregion
    }
}
