import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Performs operations without a queue: a synchronous one, an asynchronous one that waits for it, a cancelled one.
    public static func startingByHand(_ input: RecipeInput) throws -> RecipeResult {
        // region: starting-by-hand
        let journal = Journal()
        let list = BlockOperation { journal.write("\(input.sample.count) files") }
        let count = CountOperation(input.sample)
        count.addDependency(list)
        let report = BlockOperation { journal.write("reported") }
        report.cancel()

        if !perform(count) { journal.write("not ready") }
        performWhenReady(count)
        _ = perform(list)  // returns after the block has run on this thread
        _ = perform(report)
        count.waitUntilFinished()
        journal.write("\(count.lines) lines")
        if report.isFinished { journal.write("cancelled, and finished") }
        return journal.result
        // endregion
    }

    // region: starting-by-hand-perform
    /// Performs an operation if it is ready or cancelled. To start another one would end the program.
    private static func perform(_ operation: Operation) -> Bool {
        guard operation.isReady || operation.isCancelled else { return false }
        if operation.isAsynchronous, !operation.isCancelled {
            Thread.detachNewThread { operation.start() }
        } else {
            operation.start()  // a cancelled operation only finishes
        }
        return true
    }

    /// A timer tries again until the operation is ready.
    private static func performWhenReady(_ operation: Operation) {
        if perform(operation) { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { performWhenReady(operation) }
    }
    // endregion
}

// region: starting-by-hand-operation
/// `AsynchronousOperation` is that of the state machine by hand. Its lines are read after its end only.
private final class CountOperation: AsynchronousOperation, @unchecked Sendable {
    private let files: [InputFile]
    private(set) var lines = 0

    init(_ files: [InputFile]) {
        self.files = files
    }

    override func main() {
        lines = files.reduce(0) { $0 + $1.lineCount() }
        finish()
    }
}
// endregion
