import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Starts a process, and learns when it has exited.
    public static func processSource(_ input: RecipeInput) throws -> RecipeResult {
        // region: process-source
        let child = try ChildProcess(shell: "exit \(input.files.count % 100)")
        let hasExited = DispatchSemaphore(value: 0)
        #if os(Linux)
            // Dispatch has no such source here, so a thread blocks in its place.
            Thread.detachNewThread {
                var information = siginfo_t()
                while waitid(P_PID, id_t(child.identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
                hasExited.signal()
            }
        #else
            let source = DispatchSource.makeProcessSource(
                identifier: child.identifier, eventMask: .exit, queue: .global())
            source.setEventHandler { hasExited.signal() }
            source.activate()
        #endif
        hasExited.wait()
        return RecipeResult("exit status \(child.exitStatus())")
        // endregion
    }
}
