public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Performs the steps of three operations one after another.
    public static func conditionInOrder(_ input: RecipeInput) async throws -> RecipeResult {
        // region: condition-in-order
        try await withTaskOperationQueue { queue in
            let count = queue.addOperation { "\(input.files.count) files" }
            let sum = queue.addOperation(after: count) { lines in
                [lines, "\(input.files.reduce(0) { $0 + $1.size }) bytes"]
            }
            let report = queue.addOperation(after: sum) { lines in
                lines + ["after \(lines.count) steps"]
            }
            return RecipeResult(try await report.value.joined(separator: ", "))
        }
        // endregion
    }
}
