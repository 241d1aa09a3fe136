import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Shows how far a queue has come.
    public static func progress(_ input: RecipeInput) throws -> RecipeResult {
        // region: progress
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.progress.totalUnitCount = Int64(input.sample.count)
        let lines = SharedCount()
        for file in input.sample { queue.addOperation { lines.add(file.lineCount()) } }
        queue.waitUntilAllOperationsAreFinished()
        let progress = queue.progress
        return RecipeResult(
            "\(progress.completedUnitCount) of \(progress.totalUnitCount) files, \(lines.total) lines")
        // endregion
    }
}
