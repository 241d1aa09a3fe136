public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts lines, mostly in the background, and always keeps capacity for urgent work.
    public static func priorityCaps(_ input: RecipeInput) async throws -> RecipeResult {
        // region: priority-caps
        let (lines, meter) = (SharedCount(), WorkMeter())
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            queue.setMaxConcurrentOperationCount(1, for: .background)
            for (number, file) in input.sample.enumerated() {
                if number.isMultiple(of: 10) {
                    queue.addOperation(priority: .high) { lines.add(file.lineCount()) }
                } else {
                    queue.addOperation(priority: .background) { meter.measure { lines.add(file.lineCount()) } }
                }
            }
        }
        try Task.checkCancellation()
        return RecipeResult("\(lines.total) lines, at most \(meter.most) in the background at once")
        // endregion
    }
}
