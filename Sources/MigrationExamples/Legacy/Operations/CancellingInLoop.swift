import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts lines file by file in one operation, and cancels it half way.
    public static func cancellingInLoop(_ input: RecipeInput) throws -> RecipeResult {
        // region: cancelling-in-loop
        let queue = OperationQueue()
        let count = CountOperation(input.sample)
        count.onFile = { [unowned count] done in
            if done * 2 >= input.sample.count { count.cancel() }
        }
        queue.addOperations([count], waitUntilFinished: true)
        return RecipeResult("stopped after \(count.done) of \(input.sample.count) files, \(count.lines) lines")
        // endregion
    }
}

// region: cancelling-in-loop-operation
/// Asks before each file. Its progress is written by `main`, and read after the end only.
private final class CountOperation: Operation, @unchecked Sendable {
    private let files: [InputFile]
    var onFile: ((Int) -> Void)?
    private(set) var done = 0
    private(set) var lines = 0

    init(_ files: [InputFile]) {
        self.files = files
    }

    override func main() {
        for file in files {
            if isCancelled { return }
            lines += file.lineCount()
            done += 1
            onFile?(done)
        }
    }
}
// endregion
