import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Learns of the end of an operation by its completion block.
    public static func completionBlock(_ input: RecipeInput) throws -> RecipeResult {
        // region: completion-block
        let queue = OperationQueue()
        let journal = Journal()
        let isCalled = DispatchSemaphore(value: 0)
        let operation = BlockOperation { journal.write("\(input.files.count) files") }
        operation.completionBlock = {
            journal.write("finished")
            isCalled.signal()
        }
        queue.addOperation(operation)
        isCalled.wait()
        return journal.result
        // endregion
    }
}
