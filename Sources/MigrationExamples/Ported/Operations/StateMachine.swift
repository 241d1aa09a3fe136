public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Observes the states of an asynchronous operation.
    public static func stateMachine(_ input: RecipeInput) async throws -> RecipeResult {
        // region: state-machine
        try await withTaskOperationQueue { queue in
            let journal = Journal()
            let list = TaskOperation(name: "list") { journal.write("\(input.sample.count) files") }
            let count = TaskOperation(name: "count", dependencies: [list]) {
                var lines = 0
                for (index, file) in input.sample.enumerated() {
                    lines += file.lineCount()
                    if index == 0 { journal.write("\(AnyTaskOperation.current!.state)") }
                }
                return lines
            }
            journal.write("\(count.state)")
            try queue.addOperations([list, count])
            journal.write("\(try await count.value) lines")
            journal.write("\(count.state)")
            return journal.result
        }
        // endregion
    }
}
