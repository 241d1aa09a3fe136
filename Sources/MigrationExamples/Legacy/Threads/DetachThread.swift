import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files on a thread of its own.
    public static func detachThread(_ input: RecipeInput) throws -> RecipeResult {
        // region: detach-thread
        let digests = DigestJournal()
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for file in input.files.prefix(40) {
                if input.cancellation.isCancelled { break }
                digests.add(file, Result { try file.headDigest() })
            }
            isDone.signal()
        }
        isDone.wait()
        return digests.result
        // endregion
    }
}
