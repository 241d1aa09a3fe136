public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Adds one operation, several operations, several operations to wait for, and a block.
    public static func addingOperations(_ input: RecipeInput) async throws -> RecipeResult {
        // region: adding-operations
        try await withTaskOperationQueue { queue in
            let lines = SharedCount()
            let all = input.sample.map { file in TaskOperation { lines.add(file.lineCount()) } }
            let (first, second) = (all.prefix(all.count / 2), all.dropFirst(all.count / 2))
            let one = TaskOperation { lines.add(1) }

            try queue.addOperation(one)
            try queue.addOperations(Array(first))
            try queue.addOperations(Array(second))
            for operation in second { try await operation.value }
            let isDone = second.allSatisfy(\.isFinished)
            queue.addOperation { lines.add(1) }
            try await queue.waitUntilAllOperationsAreFinished()
            try Task.checkCancellation()
            return RecipeResult("\(lines.total), \(isDone ? "waited" : "did not wait") for \(second.count)")
        }
        // endregion
    }
}
