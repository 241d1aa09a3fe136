import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Adds one operation, many, many that are waited for, and a block.
    public static func addingOperations(_ input: RecipeInput) throws -> RecipeResult {
        // region: adding-operations
        let queue = OperationQueue()
        let lines = SharedCount()
        let all = input.sample.map { file in BlockOperation { lines.add(file.lineCount()) } }
        let (first, second) = (all.prefix(all.count / 2), all.dropFirst(all.count / 2))
        let one = BlockOperation { lines.add(1) }

        queue.addOperation(one)
        queue.addOperations(Array(first), waitUntilFinished: false)
        queue.addOperations(Array(second), waitUntilFinished: true)
        let isDone = second.allSatisfy(\.isFinished)
        queue.addOperation { lines.add(1) }
        queue.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(lines.total), \(isDone ? "waited" : "did not wait") for \(second.count)")
        // endregion
    }
}
