public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Makes two steps wait for each other, and returns the outcomes.
    public static func dependencyCycle(_ input: RecipeInput) async throws -> RecipeResult {
        // region: dependency-cycle
        try await withTaskOperationQueue { queue in
            let (journal, steps) = (Journal(), SharedCount())
            let read = TaskOperation(name: "read") { steps.add(1) }
            let check = TaskOperation(name: "check") { steps.add(1) }
            try check.addDependency(read)
            do {
                try read.addDependency(check)
            } catch {
                // `error` says: "read" waits for "check" waits for "read". The other dependency is still there.
                journal.write("\(steps.total) of 2 steps with the cycle")
            }
            let last = TaskOperation(name: "last", dependencies: [check]) {
                journal.write("\(steps.total) of 2 steps without it")
            }
            try queue.addOperations([read, check, last])
            try await last.value
            return journal.result
        }
        // endregion
    }
}
