public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Adds up the sizes of the files on another thread than the caller's.
    public static func blockOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: block-operation
        try await withTaskOperationQueue { queue in
            let bytes = queue.addOperation { input.files.reduce(0) { $0 + $1.size } }
            return RecipeResult("\(try await bytes.value) bytes")
        }
        // endregion
    }
}
