import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests every file, at most 4 at a time.
    public static func widthLimitedBatch(_ input: RecipeInput) throws -> RecipeResult {
        // region: width-limited-batch
        let queue = OperationQueue()
        queue.name = "digests"
        queue.maxConcurrentOperationCount = 4

        let digests = SharedDigests()
        for file in input.files {
            queue.addOperation {
                let outcome = Result { try file.digest(isCancelled: { input.cancellation.isCancelled }) }
                digests.add(file, outcome)
            }
        }
        input.cancellation.onCancel { queue.cancelAllOperations() }
        queue.waitUntilAllOperationsAreFinished()
        try input.cancellation.check()
        return digests.result
        // endregion
    }
}

// region: width-limited-batch-shared
/// The object to which the operations write, from any thread.
private final class SharedDigests: @unchecked Sendable {
    private let lock = NSLock()
    private var list = DigestList()

    func add(_ file: InputFile, _ outcome: Result<Digest, Error>) {
        lock.lock()
        list.add(file, outcome)
        lock.unlock()
    }

    var result: RecipeResult {
        lock.lock()
        defer { lock.unlock() }
        return list.result
    }
}
// endregion
