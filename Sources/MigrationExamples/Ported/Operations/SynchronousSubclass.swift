public import MigrationExamplesSupport
import TaskOperations

// region: synchronous-subclass
/// Digests a file.
private struct DigestBody: TaskOperationBody {
    let file: InputFile

    func main() async throws -> Digest {
        try file.digest()
    }
}
// endregion

extension Ported {
    /// Digests every file in a separate operation.
    public static func synchronousSubclass(_ input: RecipeInput) async throws -> RecipeResult {
        // region: synchronous-subclass-use
        try await withTaskOperationQueue(failures: .ignore) { queue in
            let operations = input.files.map { TaskOperation(DigestBody(file: $0), name: $0.name) }
            try queue.addOperations(operations)

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
