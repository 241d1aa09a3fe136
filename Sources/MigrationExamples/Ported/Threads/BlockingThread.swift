public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Waits for another process on a thread for blocking work.
    public static func blockingThread(_ input: RecipeInput) async throws -> RecipeResult {
        // region: blocking-thread
        let child = try ChildProcess(shell: "exit \(input.files.count % 100)")
        let threads = BlockingExecutor(name: "waiter", maxThreadCount: 1, stackSize: 1 << 18)
        let status = try await threads.run { child.exitStatus() }  // blocks
        return RecipeResult("exit status \(status)")
        // endregion
    }
}
