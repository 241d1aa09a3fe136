import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Digests the beginnings of files, at most 3 at a time.
    public static func semaphoreAsLimit(_ input: RecipeInput) throws -> RecipeResult {
        let meter = WorkMeter()
        // region: semaphore-as-limit
        let slots = DispatchSemaphore(value: 3)
        let group = DispatchGroup()
        let digests = DigestJournal()
        for file in input.files.prefix(40) {
            slots.wait()  // here, and not in the block: one that waits holds a thread
            DispatchQueue.global().async(group: group) {
                digests.add(file, Result { try meter.measure { try file.headDigest() } })
                slots.signal()
            }
        }
        group.wait()
        return RecipeResult("\(meter.most <= 3 ? "at most 3 at once" : "too many"), \(digests.result.text)")
        // endregion
    }
}
