public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads files on one queue and counts lines on another. Each queue has its own width.
    public static func crossQueueDependencies(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cross-queue-dependencies
        try await withTaskOperationQueue(name: "disk", maxConcurrentOperationCount: 1) { disk in
            try await withTaskOperationQueue(name: "processor") { processor in
                let counts = input.sample.map { file in
                    let read = disk.addOperation { (try? file.contents(upTo: InputFile.sampleSize)) ?? [] }
                    return processor.addOperation(after: read) { $0.lineCount }
                }
                let report = disk.addOperation(after: counts) { RecipeResult("\($0.reduce(0, +)) lines") }
                return try await report.value
            }
        }
        // endregion
    }
}
