import Foundation
public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads files. The first two attempts of each read fail.
    public static func retryOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: retry-operation
        let queue = TaskOperationQueue()
        let attempts = SharedCount()
        let reads = input.sample.map { file in
            queue.addOperation(.retry(.exponential(initial: .milliseconds(1), jitter: 0.5, attempts: 4))) {
                attempts.add(1)
                if RetryPolicy.attempt! < 3 { throw URLError(.networkConnectionLost) }
                return file.size
            }
        }
        var bytes = 0
        for read in reads { bytes += try await read.value }
        // endregion
        let performed = SharedCount()
        // region: retry-operation-perform
        try await queue.addOperation(.retry(.immediately(attempts: 3))) {
            performed.add(1)
            if performed.total < 3 { throw URLError(.networkConnectionLost) }
        }.value
        // endregion
        return RecipeResult("\(bytes) bytes, \(attempts.total) attempts, performed \(performed.total) times")
    }
}
