public import MigrationExamplesSupport
import Synchronization
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Digests the beginnings of files with all processors.
    public static func apply(_ input: RecipeInput) async throws -> RecipeResult {
        // region: apply
        let (files, done) = (input.files.prefix(40), SharedCount())
        let digests = Mutex(DigestList())
        return try await withTaskOperationQueue { queue in
            let work = queue.addOperation {
                await concurrentPerform(over: files, stride: 4) { file in
                    let digest = Result { try file.headDigest() }
                    digests.withLock { $0.add(file, digest) }
                    done.add(1)
                    AnyTaskOperation.current?.reportProgress(done.total, of: files.count)
                }
            }
            var fraction = 0.0
            for await progress in work.progress { fraction = progress.fraction }
            try Task.checkCancellation()
            return digests.withLock { $0.result.adding(["progress \(fraction)"]) }
        }
        // endregion
    }
}
