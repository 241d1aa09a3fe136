import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Waits for one operation, and then for all.
    public static func waiting(_ input: RecipeInput) throws -> RecipeResult {
        // region: waiting
        let queue = OperationQueue()
        let sizes = Journal()
        let first = BlockOperation { sizes.write("\(input.files.count)") }
        queue.addOperation(first)
        first.waitUntilFinished()
        let journal = Journal()
        journal.write("first: \(sizes.lines.count)")
        for file in input.files { queue.addOperation { sizes.write("\(file.size)") } }
        queue.waitUntilAllOperationsAreFinished()
        journal.write("all: \(sizes.lines.count)")
        return journal.result
        // endregion
    }
}
