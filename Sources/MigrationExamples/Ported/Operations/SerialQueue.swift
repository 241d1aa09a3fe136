public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Changes an object without a lock, in operations that run one at a time.
    public static func serialQueue(_ input: RecipeInput) async throws -> RecipeResult {
        // region: serial-queue
        try await withTaskOperationQueue(name: "log", maxConcurrentOperationCount: 1) { queue in
            let log = Log()
            for file in input.sample {
                queue.addOperation { await log.append("\(file.name): \(file.lineCount())") }
            }
            let lines = try await queue.run { await log.lines }
            return RecipeResult("\(lines.count) lines, last \(lines.last ?? "none")")
        }
        // endregion
    }
}

// region: serial-queue-log
private actor Log {
    private(set) var lines: [String] = []

    func append(_ line: String) {
        lines.append(line)
    }
}
// endregion
