import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts the lines of every file in one operation of many blocks, which is finished when all of them are.
    public static func manyBlocks(_ input: RecipeInput) throws -> RecipeResult {
        // region: many-blocks
        let queue = OperationQueue()
        let lines = SharedCount()
        let operation = BlockOperation()
        for file in input.sample {
            operation.addExecutionBlock { lines.add(file.lineCount()) }
        }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        return RecipeResult("\(input.sample.count) blocks, \(lines.total) lines")
        // endregion
    }
}
