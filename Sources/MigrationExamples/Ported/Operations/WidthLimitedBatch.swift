public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Digests every file, at most 4 at a time.
    public static func widthLimitedBatch(_ input: RecipeInput) async throws -> RecipeResult {
        // region: width-limited-batch
        try await withTaskOperationQueue(name: "digests", maxConcurrentOperationCount: 4, failures: .ignore) { queue in
            let operations = input.files.map { file in queue.addOperation { try file.digest() } }

            var digests = DigestList()
            for (file, operation) in zip(input.files, operations) {
                digests.add(file, await operation.result)
            }
            try Task.checkCancellation()
            return digests.result
        }
        // endregion
    }
}
