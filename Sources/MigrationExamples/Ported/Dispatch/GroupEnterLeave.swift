public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Reads files with a callback-based library, and continues after all callbacks.
    public static func groupEnterLeave(_ input: RecipeInput) async throws -> RecipeResult {
        // region: group-enter-leave
        let reader = CallbackReader()
        return try await withTaskOperationQueue(name: "reads", maxConcurrentOperationCount: 4, failures: .ignore) {
            queue in
            let files = input.files.prefix(40)
            let reads = files.map { file in
                queue.addOperation(callback: { (completion: CompletionHandler<[UInt8]>) in
                    reader.readHead(of: file) { completion($0) }
                })
            }

            var digests = DigestList()
            for (file, read) in zip(files, reads) {
                digests.add(file, await read.result.map { SHA256.digest(of: $0) })
            }
            try Task.checkCancellation()
            return digests.result
        }
        // endregion
    }
}
