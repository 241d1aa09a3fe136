public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Learns when an operation starts and ends.
    public static func observingStates(_ input: RecipeInput) async throws -> RecipeResult {
        // region: observing-states
        let queue = TaskOperationQueue()
        let journal = Journal()
        let count = TaskOperation(name: "count") {
            journal.write("executing")
            journal.write("\(input.files.count) files")
        }
        count.addCompletionHandler { journal.write("finished") }
        try queue.addOperation(count)
        try await count.waitUntilFinished()
        return journal.result
        // endregion
    }
}
