import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads files, each of which has another operation follow if it is a text.
    public static func producedOperations(_ input: RecipeInput) throws -> RecipeResult {
        // region: produced-operations
        let queue = AdvancedQueue()
        let (lines, produced) = (SharedCount(), SharedCount())
        for file in input.sample {
            let read = AdvancedBlockOperation { operation in
                guard let text = try? file.text() else { return }
                produced.add(1)
                operation.produce(BlockOperation { lines.add(text.lineCount) })
            }
            queue.add(read)
        }
        queue.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(produced.total) produced, \(lines.total) lines")
        // endregion
    }
}
