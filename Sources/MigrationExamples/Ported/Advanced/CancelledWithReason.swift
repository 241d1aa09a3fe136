public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Cancels the operations of files that are too large, and states the reason.
    public static func cancelledWithReason(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cancelled-with-reason
        try await withTaskOperationQueue(.init(isSuspended: true)) { queue in
            let reads = input.sample.map { file in queue.addOperation { file.lineCount() } }
            for (file, read) in zip(input.sample, reads) where file.size > 4096 {
                read.cancel(throwing: TooLarge(size: file.size))
            }
            queue.isSuspended = false
            var (lines, sizes) = (0, [Int]())
            for read in reads {
                do {
                    lines += try await read.value
                } catch let error as TooLarge {
                    sizes.append(error.size)
                }
            }
            return RecipeResult("\(lines) lines, \(sizes.count) too large with \(sizes.reduce(0, +)) bytes")
        }
        // endregion
    }
}

private struct TooLarge: Error {
    let size: Int
}
