import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads files on five threads, which may block.
    public static func threadPool(_ input: RecipeInput) throws -> RecipeResult {
        // region: thread-pool
        let pool = OperationQueue()
        pool.maxConcurrentOperationCount = 5
        let (busy, lines) = (SharedCount(), SharedCount())
        for file in input.sample {
            pool.addOperation {
                busy.add(1)
                lines.add(file.lineCount())
                busy.add(-1)
            }
        }
        pool.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(lines.total) lines, \(busy.most <= 5 ? "5" : "more") at once at most")
        // endregion
    }
}
