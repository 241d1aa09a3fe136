public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts lines file by file in one operation, which is cancelled halfway.
    public static func cancellingInLoop(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cancelling-in-loop
        try await withTaskOperationQueue { queue in
            let count = queue.addOperation(
                Count(files: input.sample) { done in
                    if done * 2 >= input.sample.count { AnyTaskOperation.current?.cancel() }
                })
            let (done, lines) = try await count.value
            try Task.checkCancellation()
            return RecipeResult("stopped after \(done) of \(input.sample.count) files, \(lines) lines")
        }
        // endregion
    }
}

// region: cancelling-in-loop-operation
/// Checks before each file, and returns its results so far. To throw instead: `try Task.checkCancellation()`.
private struct Count: TaskOperationBody {
    let files: [InputFile]
    let onFile: @Sendable (Int) -> Void

    func main() async throws -> (done: Int, lines: Int) {
        var (done, lines) = (0, 0)
        for file in files {
            if Task.isCancelled { break }
            lines += file.lineCount()
            done += 1
            onFile(done)
        }
        return (done, lines)
    }
}
// endregion
