import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Adds the sizes of the files up, away from the caller's thread.
    public static func blockOperation(_ input: RecipeInput) throws -> RecipeResult {
        // region: block-operation
        let queue = OperationQueue()
        let journal = Journal()
        let operation = BlockOperation {
            let bytes = input.files.reduce(0) { $0 + $1.size }
            journal.write("\(bytes) bytes")
        }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        return journal.result
        // endregion
    }
}
