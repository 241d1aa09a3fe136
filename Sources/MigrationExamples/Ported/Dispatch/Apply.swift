public import MigrationExamplesSupport
import Synchronization
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Digests the beginnings of files with all processors.
    public static func apply(_ input: RecipeInput) async throws -> RecipeResult {
        // region: apply
        let digests = Mutex(DigestList())
        await concurrentPerform(over: input.files.prefix(40), stride: 4) { file in
            let digest = Result { try file.headDigest() }
            digests.withLock { $0.add(file, digest) }
        }
        return digests.withLock { $0.result }
        // endregion
    }
}
