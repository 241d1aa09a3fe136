public import MigrationExamplesSupport

extension Ported {
    /// Calls an actor whose method calls the actor again.
    public static func syncOnOwnQueue(_ input: RecipeInput) async throws -> RecipeResult {
        // region: sync-on-own-queue
        let index = SizeIndex(files: input.files)
        return RecipeResult(await index.summary)
        // endregion
    }
}

// region: sync-on-own-queue-index
private actor SizeIndex {
    private let files: [InputFile]

    init(files: [InputFile]) {
        self.files = files
    }

    var bytes: Int { files.reduce(0) { $0 + $1.size } }

    var summary: String { "\(files.count) files, \(bytes) bytes" }
}
// endregion
