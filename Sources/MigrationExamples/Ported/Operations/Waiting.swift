public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Waits for one operation, and then for all operations.
    public static func waiting(_ input: RecipeInput) async throws -> RecipeResult {
        // region: waiting
        try await withTaskOperationQueue { queue in
            let sizes = Journal()
            let first = queue.addOperation { sizes.write("\(input.files.count)") }
            try await first.waitUntilFinished()
            let journal = Journal()
            journal.write("first: \(sizes.lines.count)")
            for file in input.files { queue.addOperation { sizes.write("\(file.size)") } }
            try await queue.waitUntilAllOperationsAreFinished()
            try Task.checkCancellation()
            journal.write("all: \(sizes.lines.count)")
            return journal.result
        }
        // endregion
    }
}
