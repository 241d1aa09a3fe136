import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Shows one file at each tick of a timer, until there are no more.
    public static func timerSource(_ input: RecipeInput) throws -> RecipeResult {
        // region: timer-source
        let files = input.files.prefix(5)
        let journal = Journal()
        let isOver = DispatchSemaphore(value: 0)
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer"))
        timer.schedule(deadline: .now(), repeating: .milliseconds(5))
        timer.setEventHandler {
            if let file = files.dropFirst(journal.lines.count).first {
                journal.write("\(file.size)")
            } else {
                timer.cancel()
            }
        }
        timer.setCancelHandler { isOver.signal() }
        timer.activate()
        isOver.wait()
        return journal.result
        // endregion
    }
}
