public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Runs work only if its conditions allow it. Dependents that need its value do not run without the value.
    public static func operationConditions(_ input: RecipeInput) async throws -> RecipeResult {
        // region: operation-conditions
        let (done, asked) = (SharedCount(), SharedCount())
        try await withTaskOperationQueue(failures: .ignore) { queue in
            for file in input.sample {
                let count = queue.addOperation(
                    ConditionalBody(conditions: [{ file.size > 0 }, { file.size < 1_000_000 }]) { done.add(1) })
                queue.addOperation(after: count) { asked.add(1) }
            }
        }
        try Task.checkCancellation()
        // endregion
        return RecipeResult(
            "\(done.total) of \(input.sample.count) done, \(asked.total) went on, \(try await heldBack().text)")
    }

    private static func heldBack() async throws -> RecipeResult {
        let journal = Journal()
        // region: operation-conditions-ready
        try await withTaskOperationQueue { queue in
            let release = TaskOperation(name: "release") {}
            let held = queue.addOperation(dependencies: [release]) { journal.write("held") }
            try await queue.run { journal.write("free") }
            try release.start()
            try await held.value
        }
        // endregion
        return journal.result
    }
}

// region: operation-conditions-class
private struct ConditionalBody: TaskOperationBody {
    var conditions: [@Sendable () async throws -> Bool]
    let work: @Sendable () async throws -> Void

    func main() async throws {
        for condition in conditions where try await !condition() { throw ConditionFailed() }
        try await work()
    }
}

private struct ConditionFailed: Error {}
// endregion
