public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Gives every operation a name and a priority when it is added.
    public static func queueSubclass(_ input: RecipeInput) async throws -> RecipeResult {
        // region: queue-subclass
        try await withTaskOperationQueue { queue in
            let naming = NamingQueue(queue: queue)
            let lines = SharedCount()
            for file in input.sample.prefix(3) {
                naming.addOperation { lines.add(file.lineCount()) }
            }
            naming.addOperation { lines.add(1) }
            try await queue.waitUntilAllOperationsAreFinished()
            try Task.checkCancellation()
            return naming.journal.result.adding(["\(lines.total) lines"])
        }
        // endregion
    }
}

// region: queue-subclass-class
private struct NamingQueue: Sendable {
    let queue: TaskOperationQueue
    let journal = Journal()

    @discardableResult
    func addOperation<Success>(
        _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let name = "operation \(journal.lines.count + 1)"
        journal.write("\(name) added")
        return queue.addOperation(name: name, priority: .low, body: body)
    }
}
// endregion
