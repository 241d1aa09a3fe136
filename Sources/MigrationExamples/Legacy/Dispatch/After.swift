import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Says something after a moment.
    public static func after(_ input: RecipeInput) throws -> RecipeResult {
        // region: after
        let journal = Journal()
        let isShown = DispatchSemaphore(value: 0)
        journal.write("asked")
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(20)) {
            Thread.sleep(forTimeInterval: 0.001)  // blocks the main thread
            journal.write("\(input.files.count) files")
            isShown.signal()
        }
        isShown.wait()
        return journal.result
        // endregion
    }
}
