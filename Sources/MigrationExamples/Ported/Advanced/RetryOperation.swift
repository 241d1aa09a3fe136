import Foundation
public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads files. The first two attempts of each read fail.
    public static func retryOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: retry-operation
        let (attempts, performed) = (SharedCount(), SharedCount())
        let bytes = try await withTaskOperationQueue { queue in
            let reads = input.sample.map { file in
                queue.addOperation(.retry(.exponential(initial: .milliseconds(1), jitter: 0.5, attempts: 4))) {
                    attempts.add(1)
                    if RetryPolicy.attempt! < 3 { throw URLError(.networkConnectionLost) }
                    return file.size
                }
            }
            var bytes = 0
            for read in reads { bytes += try await read.value }
            try await performOperation(attempts: 3, on: queue) {
                performed.add(1)
                if performed.total < 3 { throw URLError(.networkConnectionLost) }
            }
            return bytes
        }
        // endregion
        return RecipeResult("\(bytes) bytes, \(attempts.total) attempts, performed \(performed.total) times")
    }

    // region: retry-operation-perform
    /// Performs one operation, which runs the work again after each failure. Cancelling the caller cancels it.
    private static func performOperation(
        attempts: Int, on queue: TaskOperationQueue, _ work: @escaping @Sendable () throws -> Void
    ) async throws {
        try await queue.run(.retry(.immediately(attempts: attempts))) { try work() }
    }
    // endregion
}
