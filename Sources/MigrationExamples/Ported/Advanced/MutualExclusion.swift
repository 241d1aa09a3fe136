public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads files on two queues. Operations of the same category run one at a time.
    public static func mutualExclusion(_ input: RecipeInput) async throws -> RecipeResult {
        // region: mutual-exclusion
        let queues = [TaskOperationQueue(), TaskOperationQueue()]
        let categories = ["odd": AsyncSemaphore(capacity: 1), "even": AsyncSemaphore(capacity: 1)]
        let meters = ["odd": WorkMeter(), "even": WorkMeter()]
        let lines = SharedCount()
        for (number, file) in input.sample.enumerated() {
            let category = number % 4 < 2 ? "even" : "odd"
            queues[number % 2].addOperation(.limited(by: categories[category]!)) {
                meters[category]!.measure { lines.add(file.lineCount()) }
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        let most = meters.values.map(\.most).max() ?? 0
        return RecipeResult("\(lines.total) lines, at most \(most) of a category at once")
        // endregion
    }
}
