public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Asks from many tasks for a value that is computed once.
    public static func once(_ input: RecipeInput) async throws -> RecipeResult {
        // region: once
        let computations = Journal()
        let bytes = AsyncLazy {
            computations.write("computed")
            return input.files.reduce(0) { $0 + $1.size }
        }
        try await concurrentPerform(over: 0..<8, width: 8) { _ in _ = try await bytes.value }
        return RecipeResult("\(try await bytes.value) bytes, computations: \(computations.lines.count)")
        // endregion
    }
}
