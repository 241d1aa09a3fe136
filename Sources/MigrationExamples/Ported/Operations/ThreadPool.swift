public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Reads files on five threads, which may block.
    public static func threadPool(_ input: RecipeInput) async throws -> RecipeResult {
        // region: thread-pool
        let threads = BlockingExecutor(name: "files", maxThreadCount: 5)
        let (busy, lines) = (SharedCount(), SharedCount())
        try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 5, executor: threads)) { pool in
            for file in input.sample {
                pool.addOperation {
                    busy.add(1)
                    lines.add(file.lineCount())
                    busy.add(-1)
                }
            }
        }
        try Task.checkCancellation()
        return RecipeResult("\(lines.total) lines, \(busy.most <= 5 ? "5" : "more") at once at most")
        // endregion
    }
}
