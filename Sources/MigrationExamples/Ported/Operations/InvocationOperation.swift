public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Calls methods of an object with an argument, and uses their results.
    public static func invocationOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: invocation-operation
        let queue = TaskOperationQueue()
        let counter = LineCounter()
        let counts = input.sample.map { file in queue.addOperation { counter.countLines(of: file) } }
        let numbers = queue.addOperation(dependencies: counts) { try counts.map { try $0.outcome!.get() } }
        let summary = queue.addOperation(after: numbers, body: counter.summarize)
        return RecipeResult(try await summary.value)
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
