public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Calls methods of an object with an argument, and uses their results.
    public static func invocationOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: invocation-operation
        let counter = LineCounter()
        return try await withTaskOperationQueue { queue in
            let counts = input.sample.map { file in queue.addOperation { counter.countLines(of: file) } }
            let summary = queue.addOperation(after: counts, body: counter.summarize)
            let unwanted = TaskOperation(after: counts, body: counter.summarize)
            unwanted.cancel()
            do {
                return RecipeResult("\(try await unwanted.value), not cancelled")
            } catch is CancellationError {
                return RecipeResult("\(try await summary.value), 1 cancelled")
            }
        }
        // endregion
    }
}

// region: invocation-operation-target
private struct LineCounter {
    func countLines(of file: InputFile) -> Int {
        file.lineCount()
    }

    func summarize(_ numbers: [Int]) -> String {
        "\(numbers.count) files, \(numbers.reduce(0, +)) lines"
    }
}
// endregion
