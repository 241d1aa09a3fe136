public import MigrationExamplesSupport

extension Ported {
    /// Reads the events of a stream when it is ready for them.
    public static func suspendedSource(_ input: RecipeInput) async throws -> RecipeResult {
        // region: suspended-source
        var counted = 0
        let (counts, source) = AsyncStream.makeStream(of: Int.self)
        for _ in input.files { source.yield(1) }
        source.finish()
        let whileSuspended = counted
        for await count in counts { counted += count }
        return RecipeResult("\(whileSuspended) while suspended, \(counted) in the end")
        // endregion
    }
}
