import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files, several at a time.
    public static func concurrentQueue(_ input: RecipeInput) throws -> RecipeResult {
        // region: concurrent-queue
        let queue = DispatchQueue(label: "digests", attributes: .concurrent)
        let digests = DigestJournal()  // has a lock
        for file in input.files.prefix(40) {
            queue.async { digests.add(file, Result { try file.headDigest() }) }
        }
        queue.sync(flags: .barrier) {}  // waits for all of them
        return digests.result
        // endregion
    }
}
