public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Starts operations without a queue: one that is ready, one that depends on it, and a cancelled one.
    public static func startingByHand(_ input: RecipeInput) async throws -> RecipeResult {
        // region: starting-by-hand
        let journal = Journal()
        // No scope: these operations have no queue.
        let list = TaskOperation(name: "list") { journal.write("\(input.sample.count) files") }
        let count = TaskOperation(name: "count", dependencies: [list]) {
            input.sample.reduce(0) { $0 + $1.lineCount() }
        }
        let report = TaskOperation(name: "report") { journal.write("reported") }
        report.cancel()  // finishes it: there is nothing to perform

        do {
            try count.start()
        } catch TaskOperationError.notReady {
            journal.write("not ready")
        }
        async let hasStarted: Void = startWhenReady(count)
        try list.start()  // returns at once
        try await hasStarted
        journal.write("\(try await count.value) lines")
        if report.isFinished { journal.write("cancelled, and finished") }
        return journal.result
        // endregion
    }

    // region: starting-by-hand-perform
    /// Starts an operation after its dependencies have ended. No timer tries again, and no thread waits.
    private static func startWhenReady(_ operation: AnyTaskOperation) async throws {
        for dependency in operation.dependencies { try await dependency.waitUntilFinished() }
        try Task.checkCancellation()
        try operation.start()
    }
    // endregion
}
