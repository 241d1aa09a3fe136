import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads all files, then takes stock once, then continues.
    public static func barrierBlocks(_ input: RecipeInput) throws -> RecipeResult {
        // region: barrier-blocks
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let journal = Journal()
        let sizes = Journal()
        for file in input.files { queue.addOperation { sizes.write("\(file.size)") } }
        queue.addBarrierBlock { journal.write("\(sizes.lines.count) before") }
        queue.addOperation { journal.write("after") }
        queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
