public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Runs operations on one thread in order. Waiting operations can be held back and cancelled.
    public static func blockListThread(_ input: RecipeInput) async throws -> RecipeResult {
        // region: block-list-thread
        let thread = ThreadExecutor(name: "drawing")
        let journal = Journal()
        try await withTaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, isSuspended: true, executor: thread)
        ) { queue in
            for file in input.files.prefix(3) { queue.addOperation { journal.write("drawn \(file.size)") } }
            journal.write("\(queue.operationCount) thrown away")
            queue.cancelAllOperations()
            for file in input.files.prefix(2) { queue.addOperation { journal.write("drawn again \(file.size)") } }
            queue.isSuspended = false
        }
        try Task.checkCancellation()
        return journal.result
        // endregion
    }
}
