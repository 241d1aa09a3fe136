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
        thread.stackSize = 1 << 18
        thread.qualityOfService = .utility  // before the start, as the size
        thread.start()
        isDone.wait()
        return status.result
        // endregion
    }
}
