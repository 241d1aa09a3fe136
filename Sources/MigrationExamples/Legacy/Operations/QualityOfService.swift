import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts small files at once, because a user waits for them, and large ones when there is time.
    public static func qualityOfService(_ input: RecipeInput) throws -> RecipeResult {
        // region: quality-of-service
        let queue = OperationQueue()
        queue.qualityOfService = .utility
        let lines = SharedCount()
        let counts = input.sample.map { file in
            let count = BlockOperation {
                lines.add(file.lineCount())
            }
            if file.size < 4096 { count.qualityOfService = .userInitiated }
            #if canImport(ObjectiveC)
                count.threadPriority = file.size < 4096 ? 0.8 : 0.3  // of the thread while it is in `main()`
            #endif
            return count
        }
        queue.addOperations(counts, waitUntilFinished: true)
        let urgent = counts.filter { $0.qualityOfService == .userInitiated }.count
        return RecipeResult("\(urgent) urgent, \(lines.total) lines")
        // endregion
    }
}
