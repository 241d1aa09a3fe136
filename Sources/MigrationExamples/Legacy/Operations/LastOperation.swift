import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Takes the end of the last operation of a graph for the end of all of it.
    public static func lastOperation(_ input: RecipeInput) throws -> RecipeResult {
        // region: last-operation
        let queue = OperationQueue()
        let journal = Journal()
        let write = BlockOperation { journal.write("\(input.files.count) files written") }
        let last = BlockOperation { journal.write("over") }
        last.addDependency(write)
        queue.addOperations([write, last], waitUntilFinished: false)
        last.waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
