public import MigrationExamplesSupport

extension Ported {
    /// Shows a count at once, and a sum after it was computed.
    public static func performOnMain(_ input: RecipeInput) async throws -> RecipeResult {
        // region: perform-on-main
        let label = await Label()
        let isCounted = Task { await label.show("\(input.files.count) files") }
        let bytes = input.files.reduce(0) { $0 + $1.size }
        await isCounted.value  // or the sum might come first
        await label.show("\(bytes) bytes")
        return RecipeResult(await label.history)
        // endregion
    }
}

// region: perform-on-main-label
@MainActor
private final class Label {
    private(set) var history = ""

    init() {}

    func show(_ text: String) {
        history += "[\(text)]"
    }
}
// endregion
