import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts from several threads at once, behind a serial queue.
    public static func serialQueueAsLock(_ input: RecipeInput) throws -> RecipeResult {
        // region: serial-queue-as-lock
        let tally = Tally()
        DispatchQueue.concurrentPerform(iterations: input.files.count) { index in
            tally.add(input.files[index])
        }
        return RecipeResult(tally.text)
        // endregion
    }
}

// region: serial-queue-as-lock-tally
private final class Tally {
    private let queue = DispatchQueue(label: "tally")
    private var files = 0
    private var bytes = 0

    func add(_ file: InputFile) {
        queue.sync {
            files += 1
            bytes += file.size
        }
    }

    var text: String { queue.sync { "\(files) files, \(bytes) bytes" } }
}
// endregion
