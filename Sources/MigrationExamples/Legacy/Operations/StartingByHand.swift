import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Starts operations without a queue, one when the other is done.
    public static func startingByHand(_ input: RecipeInput) throws -> RecipeResult {
        // region: starting-by-hand
        let journal = Journal()
        let list = BlockOperation { journal.write("\(input.sample.count) files") }
        let count = BlockOperation {
            journal.write("\(input.sample.reduce(0) { $0 + $1.lineCount() }) lines")
        }
        count.addDependency(list)
        if !count.isReady { journal.write("not ready") }  // to start it all the same would end the program
        list.start()  // comes back when the block has run, on this thread
        count.start()
        return journal.result
        // endregion
    }
}
