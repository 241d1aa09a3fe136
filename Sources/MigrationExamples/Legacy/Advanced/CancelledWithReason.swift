import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Cancels files that are too large, with the reason.
    public static func cancelledWithReason(_ input: RecipeInput) throws -> RecipeResult {
        // region: cancelled-with-reason
        let queue = AdvancedQueue()
        queue.isSuspended = true
        let lines = SharedCount()
        let reads = input.sample.map { file in AdvancedBlockOperation { _ in lines.add(file.lineCount()) } }
        reads.forEach(queue.add)
        for (file, read) in zip(input.sample, reads) where file.size > 4096 {
            read.cancel(with: TooLarge(size: file.size))
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        let sizes = reads.flatMap(\.errors).compactMap { ($0 as? TooLarge)?.size }
        return RecipeResult("\(lines.total) lines, \(sizes.count) too large with \(sizes.reduce(0, +)) bytes")
        // endregion
    }
}

private struct TooLarge: Error {
    let size: Int
}
