import Dispatch
public import MigrationExamplesSupport
import TaskOperationsBridge

extension Ported {
    /// Starts a process, and waits for its exit.
    public static func processSource(_ input: RecipeInput) async throws -> RecipeResult {
        // region: process-source
        let child = try ChildProcess(shell: "exit \(input.files.count % 100)")
        for try await _ in try DispatchSource.processExit(identifier: child.identifier) {}
        return RecipeResult("exit status \(child.exitStatus())")
        // endregion
    }
}
