import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Loads files for a service that allows so many requests in a second.
    public static func rateLimitedLoader(_ input: RecipeInput) throws -> RecipeResult {
        // region: rate-limited-loader
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let limiter = RateLimiter(interval: 0.002)
        let (files, bytes) = (input.sample.prefix(25), SharedCount())
        let start = Date()
        for file in files {
            queue.addOperation {
                limiter.waitForTurn()
                bytes.add(file.size)
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        let isSpread = -start.timeIntervalSinceNow >= 0.002 * Double(files.count - 5)
        return RecipeResult("\(bytes.total) bytes, \(isSpread ? "spread over time" : "too fast")")
        // endregion
    }
}

// region: rate-limited-loader-limiter
/// Lets one caller after the other continue, and the first five at once.
private final class RateLimiter: @unchecked Sendable {
    private let lock = NSLock()
    private let interval: TimeInterval
    private var next: Date

    init(interval: TimeInterval) {
        self.interval = interval
        next = Date(timeIntervalSinceNow: -4 * interval)
    }

    func waitForTurn() {
        let turn = lock.withLock {
            next = max(next, Date(timeIntervalSinceNow: -4 * interval)) + interval
            return next - interval
        }
        Thread.sleep(until: turn)  // it holds a thread, and a place in the width; cancelling does not end it
    }
}
// endregion
