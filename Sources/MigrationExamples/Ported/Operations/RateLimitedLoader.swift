public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Loads files from a service that limits the number of requests per second.
    public static func rateLimitedLoader(_ input: RecipeInput) async throws -> RecipeResult {
        // region: rate-limited-loader
        let (files, bytes) = (input.sample.prefix(25), SharedCount())
        let start = ContinuousClock.now
        try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 4, rate: .perSecond(500, burst: 5))) {
            queue in
            for file in files {
                queue.addOperation { bytes.add(file.size) }
            }
        }
        try Task.checkCancellation()
        let isSpread = ContinuousClock.now - start >= .milliseconds(2) * (files.count - 5)
        return RecipeResult("\(bytes.total) bytes, \(isSpread ? "spread over time" : "too fast")")
        // endregion
    }
}
