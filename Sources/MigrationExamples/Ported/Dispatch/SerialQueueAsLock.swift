public import MigrationExamplesSupport
import Synchronization
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Counts from several tasks at once, behind a lock.
    public static func serialQueueAsLock(_ input: RecipeInput) async throws -> RecipeResult {
        // region: serial-queue-as-lock
        let tally = Tally()
        await concurrentPerform(over: input.files, stride: 64) { tally.add($0) }
        return RecipeResult(tally.text)
        // endregion
    }
}

// region: serial-queue-as-lock-tally
private final class Tally: Sendable {
    private let counted = Mutex((files: 0, bytes: 0))

    func add(_ file: InputFile) {
        counted.withLock { counted in
            counted.files += 1
            counted.bytes += file.size
        }
    }

    var text: String { counted.withLock { "\($0.files) files, \($0.bytes) bytes" } }
}
// endregion
