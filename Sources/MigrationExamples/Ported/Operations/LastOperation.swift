public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Waits for all of a graph by its queue, also after everything was cancelled.
    public static func lastOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: last-operation
        let queue = TaskOperationQueue()
        let journal = Journal()
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let (release, goOn) = AsyncStream.makeStream(of: Void.self)
        let isReleased = Task { for await _ in release {} }
        let write = queue.addOperation {
            hasBegun.finish()
            await isReleased.value  // in the middle of a write, which nobody can cancel
            journal.write("\(input.files.count) files written")
        }
        queue.addOperation(name: "last", dependencies: [write]) {}
        for await _ in begun {}
        queue.cancelAllOperations()  // here "last" is finished
        goOn.finish()
        try await queue.waitUntilAllOperationsAreFinished()
        journal.write("over")
        return journal.result
        // endregion
    }
}
