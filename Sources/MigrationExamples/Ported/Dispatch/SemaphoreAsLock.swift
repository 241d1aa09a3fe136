public import MigrationExamplesSupport
import Synchronization
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Collects sizes from several tasks at once, behind a lock.
    public static func semaphoreAsLock(_ input: RecipeInput) async throws -> RecipeResult {
        // region: semaphore-as-lock
        let sizes = Sizes()
        await concurrentPerform(over: input.files, stride: 64) { sizes.add($0.size) }
        return RecipeResult(sizes.text)
        // endregion
    }
}

// region: semaphore-as-lock-sizes
private final class Sizes: Sendable {
    private let seen = Mutex((total: 0, largest: 0))

    func add(_ size: Int) {
        seen.withLock { seen in
            seen.total += size
            seen.largest = max(seen.largest, size)
        }
    }

    var text: String { seen.withLock { "\($0.total) bytes, \($0.largest) in the largest" } }
}
// endregion
