import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Gives every operation a name and a priority where it is added.
    public static func queueSubclass(_ input: RecipeInput) throws -> RecipeResult {
        // region: queue-subclass
        let queue = NamingQueue()
        let lines = SharedCount()
        for file in input.sample.prefix(3) {
            queue.addOperation(BlockOperation { lines.add(file.lineCount()) })
        }
        queue.addOperations([BlockOperation { lines.add(1) }], waitUntilFinished: false)
        queue.waitUntilAllOperationsAreFinished()
        return queue.journal.result.adding(["\(lines.total) lines"])
        // endregion
    }
}

// region: queue-subclass-class
private final class NamingQueue: OperationQueue, @unchecked Sendable {
    let journal = Journal()

    override func addOperation(_ operation: Operation) {
        prepare(operation)
        super.addOperation(operation)
    }

    override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        operations.forEach(prepare)
        super.addOperations(operations, waitUntilFinished: wait)
    }

    private func prepare(_ operation: Operation) {
        operation.name = "operation \(journal.lines.count + 1)"
        operation.queuePriority = .low
        journal.write("\(operation.name!) added")
    }
}
// endregion
