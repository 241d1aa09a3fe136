import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Passes the result of one operation to the next.
    public static func passingResults(_ input: RecipeInput) throws -> RecipeResult {
        // region: passing-results
        let queue = OperationQueue()
        let list = ListOperation(input)
        let count = CountOperation()
        let hand = BlockOperation { [unowned list, unowned count] in count.files = list.files }
        hand.addDependency(list)
        count.addDependency(hand)
        queue.addOperations([list, hand, count], waitUntilFinished: true)
        return RecipeResult("\(list.files.count) of \(input.sample.count) files, \(count.lines) lines")
        // endregion
    }
}

// region: passing-results-operations
// The values here are written before the next operation begins, and read only after that.
private final class ListOperation: Operation, @unchecked Sendable {
    private let input: RecipeInput
    private(set) var files: [InputFile] = []

    init(_ input: RecipeInput) {
        self.input = input
    }

    override func main() {
        files = input.sample.filter { $0.size > 0 }
    }
}

// `files` is written before it starts, `lines` before it finishes and read after it.
private final class CountOperation: Operation, @unchecked Sendable {
    var files: [InputFile] = []
    private(set) var lines = 0

    override func main() {
        lines = files.reduce(0) { $0 + $1.lineCount() }
    }
}
// endregion
