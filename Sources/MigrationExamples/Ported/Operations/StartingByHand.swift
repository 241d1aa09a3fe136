public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Starts operations without a queue, each after the previous one has ended.
    public static func startingByHand(_ input: RecipeInput) async throws -> RecipeResult {
        // region: starting-by-hand
        let journal = Journal()
        let list = TaskOperation(name: "list") { journal.write("\(input.sample.count) files") }
        let count = TaskOperation(name: "count", dependencies: [list]) {
            journal.write("\(input.sample.reduce(0) { $0 + $1.lineCount() }) lines")
        }
        do {
            try count.start()
        } catch TaskOperationError.notReady {
            journal.write("not ready")
        }
        try list.start()  // comes back at once
        try await list.value
        try count.start()
        try await count.value
        return journal.result
        // endregion
    }
}
