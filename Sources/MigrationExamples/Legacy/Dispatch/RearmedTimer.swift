import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Saves once after many changes: each puts the timer off.
    public static func rearmedTimer(_ input: RecipeInput) throws -> RecipeResult {
        // region: rearmed-timer
        let (changes, saves) = (SharedCount(), Journal())
        let isSaved = DispatchSemaphore(value: 0)
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer"))
        timer.setEventHandler {
            saves.write("saved after \(changes.total) changes")
            isSaved.signal()
        }
        timer.activate()
        for _ in input.files {
            changes.add(1)
            timer.schedule(deadline: .now() + .seconds(60))
        }
        timer.schedule(deadline: .now())  // the user saves
        isSaved.wait()
        timer.cancel()
        return saves.result
        // endregion
    }
}
