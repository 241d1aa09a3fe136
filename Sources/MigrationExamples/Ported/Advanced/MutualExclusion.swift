public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Reads files on two queues. Operations of the same category run one at a time.
    public static func mutualExclusion(_ input: RecipeInput) async throws -> RecipeResult {
        // region: mutual-exclusion
        let categories = ["odd": AsyncSemaphore(capacity: 1), "even": AsyncSemaphore(capacity: 1)]
        let meters = ["odd": WorkMeter(), "even": WorkMeter()]
        let lines = SharedCount()
        try await withTaskOperationQueue { first in
            try await withTaskOperationQueue { second in
                for (number, file) in input.sample.enumerated() {
                    let category = number % 4 < 2 ? "even" : "odd"
                    let queue = number.isMultiple(of: 2) ? first : second
                    queue.addOperation(.limit(categories[category]!)) {
                        meters[category]!.measure { lines.add(file.lineCount()) }
                    }
                }
            }
        }
        try Task.checkCancellation()
        let most = meters.values.map(\.most).max() ?? 0
        return RecipeResult("\(lines.total) lines, at most \(most) of a category at once")
        // endregion
    }
}
