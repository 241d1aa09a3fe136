public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Runs operations on one thread in order. Waiting operations can be held back and cancelled.
    public static func blockListThread(_ input: RecipeInput) async throws -> RecipeResult {
        // region: block-list-thread
        let thread = ThreadExecutor(name: "drawing")
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true, executor: thread))
        let journal = Journal()
        for file in input.files.prefix(3) { queue.addOperation { journal.write("drawn \(file.size)") } }
        journal.write("\(queue.operationCount) thrown away")
        queue.cancelAllOperations()
        for file in input.files.prefix(2) { queue.addOperation { journal.write("drawn again \(file.size)") } }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
