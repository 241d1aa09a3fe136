public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Observes the starts and ends of operations.
    public static func blockObserver(_ input: RecipeInput) async throws -> RecipeResult {
        // region: block-observer
        try await withTaskOperationQueue(failures: .ignore) { queue in
            let (starts, ends, failures) = (SharedCount(), SharedCount(), SharedCount())
            for file in input.sample {
                let operation = TaskOperation {
                    starts.add(1)
                    return try file.text()
                }
                operation.addCompletionHandler { result in
                    ends.add(1)
                    if case .failure = result { failures.add(1) }
                }
                try queue.addOperation(operation)
            }
            try await queue.waitUntilAllOperationsAreFinished()
            try Task.checkCancellation()
            return RecipeResult("\(starts.total) started, \(ends.total) finished, \(failures.total) failed")
        }
        // endregion
    }
}
