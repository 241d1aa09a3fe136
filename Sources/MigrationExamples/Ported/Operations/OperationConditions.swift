public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Does what its conditions allow; what needs its value does not run without.
    public static func operationConditions(_ input: RecipeInput) async throws -> RecipeResult {
        // region: operation-conditions
        let queue = TaskOperationQueue()
        let (done, asked) = (SharedCount(), SharedCount())
        for file in input.sample {
            let count = queue.addOperation(
                ConditionalBody(conditions: [{ file.size > 0 }, { file.size < 1_000_000 }]) { done.add(1) })
            queue.addOperation(after: count) { asked.add(1) }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(done.total) of \(input.sample.count) done, \(asked.total) went on")
        // endregion
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
