public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Digests the beginnings of files, at most 3 at a time.
    public static func semaphoreAsLimit(_ input: RecipeInput) async throws -> RecipeResult {
        let meter = WorkMeter()
        // region: semaphore-as-limit
        let slots = AsyncSemaphore(capacity: 3)
        let digests = DigestJournal()
        try await withThrowingDiscardingTaskGroup { group in
            for file in input.files.prefix(40) {
                group.addTask {
                    try await slots.withPermit {
                        digests.add(file, Result { try meter.measure { try file.headDigest() } })
                    }
                }
            }
        }
        return RecipeResult("\(meter.most <= 3 ? "at most 3 at once" : "too many"), \(digests.result.text)")
        // endregion
    }
}
