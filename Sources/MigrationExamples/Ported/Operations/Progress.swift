import Foundation
public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsBridge

extension Ported {
    /// Shows the progress of a queue.
    public static func progress(_ input: RecipeInput) async throws -> RecipeResult {
        // region: progress
        try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { queue in
            queue.progress.totalUnitCount = Int64(input.sample.count)
            let counts = input.sample.map { file in queue.addOperation { file.lineCount() } }
            var lines = 0
            for count in counts { lines += try await count.value }
            try await queue.waitUntilAllOperationsAreFinished()
            try Task.checkCancellation()
            let progress = queue.progress
            return RecipeResult("\(progress.completedUnitCount) of \(progress.totalUnitCount) files, \(lines) lines")
        }
        // endregion
    }
}
