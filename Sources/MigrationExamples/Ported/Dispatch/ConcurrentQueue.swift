public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Digests the beginnings of files, several at a time.
    public static func concurrentQueue(_ input: RecipeInput) async throws -> RecipeResult {
        // region: concurrent-queue
        try await withTaskOperationQueue(name: "digests", failures: .ignore) { queue in
            let files = input.files.prefix(40)
            let operations = files.map { file in queue.addOperation { try file.headDigest() } }

            var digests = DigestList()
            for (file, operation) in zip(files, operations) { digests.add(file, await operation.result) }
            try Task.checkCancellation()
            return digests.result
        }
        // endregion
    }
}
