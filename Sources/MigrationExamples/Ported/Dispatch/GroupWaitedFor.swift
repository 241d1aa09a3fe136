public import MigrationExamplesSupport

extension Ported {
    /// Digests the beginnings of files, and continues when all are done.
    public static func groupWaitedFor(_ input: RecipeInput) async throws -> RecipeResult {
        // region: group-waited-for
        await withTaskGroup { group in
            for file in input.files.prefix(40) {
                group.addTask { (file, Result { try file.headDigest() }) }
            }
            var digests = DigestList()
            for await (file, digest) in group { digests.add(file, digest) }
            return digests.result
        }
        // endregion
    }
}
