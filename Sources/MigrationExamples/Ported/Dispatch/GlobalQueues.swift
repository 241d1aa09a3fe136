public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Digests the beginnings of files. Small files have a higher priority.
    public static func globalQueues(_ input: RecipeInput) async throws -> RecipeResult {
        // region: global-queues
        let digests = DigestJournal()
        try await withTaskOperationQueue(name: "digests") { queue in
            for file in input.files.prefix(40) {
                let priority: TaskPriority = file.size < 16 * 1024 ? .high : .low
                queue.addOperation(priority: priority) {
                    digests.add(file, Result { try file.headDigest() })
                }
            }
        }
        try Task.checkCancellation()
        return digests.result
        // endregion
    }
}
