import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Says something after a moment, by the run loop of the thread that asks.
    public static func performAfterDelay(_ input: RecipeInput) throws -> RecipeResult {
        // region: perform-after-delay
        let journal = Journal()
        journal.write("asked")
        _ = Timer.scheduledTimer(withTimeInterval: 0.02, repeats: false) { _ in
            journal.write("\(input.files.count) files")
        }
        while journal.lines.count < 2 {
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
        }
        return journal.result
        // endregion
    }
}
