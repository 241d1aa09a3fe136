public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads files on one queue and counts lines on another. Each queue has its own width.
    public static func crossQueueDependencies(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cross-queue-dependencies
        let disk = TaskOperationQueue(name: "disk", maxConcurrentOperationCount: 1)
        let processor = TaskOperationQueue(name: "processor")

        let counts = input.sample.map { file in
            let read = disk.addOperation { (try? file.contents(upTo: InputFile.sampleSize)) ?? [] }
            return processor.addOperation(after: read) { $0.lineCount }
        }
        let report = disk.addOperation(dependencies: counts) {
            let lines = try counts.reduce(0) { try $0 + $1.outcome!.get() }
            return RecipeResult("\(lines) lines")
        }
        return try await report.value
        // endregion
    }
}
