public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts the lines of texts. Some files are not texts, and some cannot be read.
    public static func errors(_ input: RecipeInput) async throws -> RecipeResult {
        // region: errors
        try await withTaskOperationQueue(failures: .ignore) { queue in
            let counts = input.sample.map { file in
                let text = queue.addOperation(name: "read") { try file.text() }
                return queue.addOperation(name: "count", after: text) { $0.lineCount }
            }

            var (lines, notText, problems) = (0, 0, [FileProblem]())
            for count in counts {
                do {
                    lines += try await count.value
                } catch TaskOperationError.dependencyFailed(_, _, is NotText) {
                    notText += 1
                } catch TaskOperationError.dependencyFailed(_, _, let problem as FileProblem) {
                    problems.append(problem)
                }
            }
            return RecipeResult(
                "\(lines) lines, \(notText) not text, \(problems.count) unreadable", unreadable: problems)
        }
        // endregion
    }
}
