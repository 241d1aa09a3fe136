public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Digests the beginnings of files, and reports on the main actor when all are done.
    public static func groupNotified(_ input: RecipeInput) async throws -> RecipeResult {
        // region: group-notified
        try await withTaskOperationQueue(name: "digests", failures: .ignore) { queue in
            let files = input.files.prefix(40)
            let digests = files.map { file in queue.addOperation { try file.headDigest() } }
            let report = queue.addOperation(dependencies: digests) { @MainActor in
                var list = DigestList()
                for (file, digest) in zip(files, digests) { list.add(file, await digest.result) }
                return list.result.text
            }
            return RecipeResult(try await report.value)
        }
        // endregion
    }
}
