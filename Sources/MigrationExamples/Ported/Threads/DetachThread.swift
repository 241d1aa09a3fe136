public import MigrationExamplesSupport

extension Ported {
    /// Digests the beginnings of files in a separate task.
    public static func detachThread(_ input: RecipeInput) async throws -> RecipeResult {
        // region: detach-thread
        let work = Task.detached {
            var digests = DigestList()
            for file in input.files.prefix(40) {
                if Task.isCancelled { break }
                digests.add(file, Result { try file.headDigest() })
            }
            return digests.result
        }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        // endregion
    }
}
