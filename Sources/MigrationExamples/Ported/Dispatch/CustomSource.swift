public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Collects the counts of many tasks in one place.
    public static func customSource(_ input: RecipeInput) async throws -> RecipeResult {
        // region: custom-source
        let files = input.files.prefix(40)
        let (finished, source) = AsyncStream.makeStream(of: Int.self)
        async let work: Void = {
            await concurrentPerform(over: files) { file in
                _ = try? file.headDigest()  // an unreadable file is done, too
                source.yield(1)
            }
            source.finish()
        }()

        var done = 0
        for await count in finished { done += count }
        await work
        try Task.checkCancellation()  // the loop ends early
        return RecipeResult("\(done) of \(files.count) done")
        // endregion
    }
}
