public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Waits for answers, one of which never arrives.
    public static func timeoutObserver(_ input: RecipeInput) async throws -> RecipeResult {
        // region: timeout-observer
        try await withTaskOperationQueue(failures: .ignore) { queue in
            let stuck = queue.addOperation(name: "stuck", .timeout(.milliseconds(20))) {
                try await answer(for: nil)
            }
            let answers = input.sample.map { file in
                queue.addOperation(.timeout(.seconds(600))) { try await answer(for: file) }
            }
            var (inTime, late) = (0, 0)
            for answer in answers + [stuck] {
                do {
                    try await answer.value
                    inTime += 1
                } catch TaskOperationError.timedOut {
                    late += 1
                }
            }
            return RecipeResult("\(inTime) in time, \(late) late")
        }
        // endregion
    }
}

// region: timeout-observer-answer
private func answer(for file: InputFile?) async throws {
    if file == nil { try await Task.sleep(for: .seconds(86_400)) }
}
// endregion
