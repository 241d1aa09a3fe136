public import MigrationExamplesSupport

extension Ported {
    /// Awaits the callback of a library.
    public static func semaphoreAsSignal(_ input: RecipeInput) async throws -> RecipeResult {
        // region: semaphore-as-signal
        let reader = CallbackReader()
        var digests = DigestList()
        for file in input.files.prefix(5) {
            let contents = await readHead(of: file, with: reader)
            digests.add(file, contents.map { SHA256.digest(of: $0) })
        }
        return digests.result
        // endregion
    }
}

// region: semaphore-as-signal-wait
private func readHead(of file: InputFile, with reader: CallbackReader) async -> Result<[UInt8], any Error> {
    await withCheckedContinuation { continuation in
        reader.readHead(of: file) { continuation.resume(returning: $0) }
    }
}
// endregion
