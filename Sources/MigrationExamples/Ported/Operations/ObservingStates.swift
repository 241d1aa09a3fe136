public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsDiagnosis

extension Ported {
    /// Observes the start and the end of an operation.
    public static func observingStates(_ input: RecipeInput) async throws -> RecipeResult {
        // region: observing-states
        try await withTaskOperationQueue { queue in
            let journal = Journal()
            let count = TaskOperation(name: "count") {
                journal.write("executing")
                journal.write("\(input.files.count) files")
            }
            count.addCompletionHandler { journal.write("finished") }
            let unwanted = TaskOperation(name: "unwanted", dependencies: [count]) {}
            var events = queue.events.makeAsyncIterator()  // observes from here on
            try queue.addOperation(unwanted)
            unwanted.cancel()
            while let event = await events.next() {
                guard case .cancelled = event.kind else { continue }
                journal.write("cancelled")
                break
            }
            try queue.addOperation(count)
            try await queue.waitUntilAllOperationsAreFinished()  // and until its handlers have returned
            try Task.checkCancellation()
            return journal.result
        }
        // endregion
    }
}
