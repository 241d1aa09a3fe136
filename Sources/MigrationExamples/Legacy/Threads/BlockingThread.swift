import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Waits for another process on a thread of its own.
    public static func blockingThread(_ input: RecipeInput) throws -> RecipeResult {
        // region: blocking-thread
        let child = try ChildProcess(shell: "exit \(input.files.count % 100)")
        let status = Journal()
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            status.write("exit status \(child.exitStatus())")  // blocks
            isDone.signal()
        }
        thread.name = "waiter"
        thread.start()
        isDone.wait()
        return status.result
        // endregion
    }
}
