import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Keeps operations for their results, without their inputs.
    public static func releasingOperations(_ input: RecipeInput) throws -> RecipeResult {
        // region: releasing-operations
        let queue = OperationQueue()
        let alive = SharedCount()
        let operations = input.sample.map { CountOperation(Buffer(of: $0, counted: alive)) }
        queue.addOperations(operations, waitUntilFinished: true)
        let lines = operations.reduce(0) { $0 + $1.lines }
        return RecipeResult("\(operations.count) kept, \(lines) lines, \(alive.total) buffers alive")
        // endregion
    }
}

// region: releasing-operations-operation
private final class CountOperation: Operation, @unchecked Sendable {
    private var buffer: Buffer?
    private(set) var lines = 0

    init(_ buffer: Buffer) {
        self.buffer = buffer
        super.init()
        // A cancelled operation never runs `main`. The block must not keep the operation that keeps it.
        completionBlock = { [weak self] in self?.buffer = nil }
    }

    override func main() {
        lines = buffer?.bytes.lineCount ?? 0
        buffer = nil  // or it would live as long as somebody wants the number
    }
}
// endregion
