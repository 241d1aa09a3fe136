public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Digests the beginnings of files, several at a time.
    public static func concurrentQueue(_ input: RecipeInput) async throws -> RecipeResult {
        // region: concurrent-queue
        let queue = TaskOperationQueue(name: "digests")
        let files = input.files.prefix(40)
        let operations = files.map { file in queue.addOperation { try file.headDigest() } }

        var digests = DigestList()
        for (file, operation) in zip(files, operations) { digests.add(file, await operation.result) }
        return digests.result
        // endregion
    }
}
