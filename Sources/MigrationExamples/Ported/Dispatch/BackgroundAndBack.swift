public import MigrationExamplesSupport

extension Ported {
    /// Adds up the sizes of the files in the background, and shows the sum on the main actor.
    public static func backgroundAndBack(_ input: RecipeInput) async throws -> RecipeResult {
        // region: background-and-back
        let label = await Label()
        await showSize(of: input.files, in: label)
        return RecipeResult(await label.text)
        // endregion
    }
}

// region: background-and-back-steps
/// Runs on the main actor, except for its awaited calls.
@MainActor
private func showSize(of files: [InputFile], in label: Label) async {
    let bytes = await size(of: files)
    label.show("\(bytes) bytes")
}

/// Runs on no actor, wherever it is called.
@concurrent
private func size(of files: [InputFile]) async -> Int {
    files.reduce(0) { $0 + $1.size }
}
// endregion

// region: background-and-back-label
/// The user interface.
@MainActor
private final class Label {
    private(set) var text = ""

    init() {}

    func show(_ text: String) {
        self.text = text
    }
}
// endregion
