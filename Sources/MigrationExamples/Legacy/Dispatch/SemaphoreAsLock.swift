import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Collects sizes from many threads, with a semaphore of value 1 in place of a lock.
    public static func semaphoreAsLock(_ input: RecipeInput) throws -> RecipeResult {
        // region: semaphore-as-lock
        let files = input.files
        let sizes = Sizes()
        DispatchQueue.concurrentPerform(iterations: files.count) { sizes.add(files[$0].size) }
        return RecipeResult(sizes.text)
        // endregion
    }
}

// region: semaphore-as-lock-sizes
private final class Sizes: @unchecked Sendable {
    private let turn = DispatchSemaphore(value: 1)
    private var total = 0
    private var largest = 0

    func add(_ size: Int) {
        turn.wait()
        defer { turn.signal() }
        total += size
        largest = max(largest, size)
    }

    var text: String {
        turn.wait()
        defer { turn.signal() }
        return "\(total) bytes, \(largest) in the largest"
    }
}
// endregion
