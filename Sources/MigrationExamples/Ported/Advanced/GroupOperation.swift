public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Reads files and counts their lines in a single operation, on which other operations can depend.
    public static func groupOperation(_ input: RecipeInput) async throws -> RecipeResult {
        // region: group-operation
        try await withTaskOperationQueue(failures: .ignore) { queue in
            let lines = SharedCount()
            let group = queue.addGroup(maxConcurrentOperationCount: 4, failures: .collect) { group in
                for file in input.sample {
                    group.addOperation {
                        let bytes = try file.contents(upTo: 4096)
                        group.addOperation { lines.add(bytes.lineCount) }
                    }
                }
            }
            let report = queue.addOperation(dependencies: [group]) {
                let unreadable = (group.failure as? OperationFailures)?.failures.count ?? 0
                return "\(lines.total) lines, \(unreadable) unreadable"
            }
            return RecipeResult(try await report.value)
        }
        // endregion
    }
}
