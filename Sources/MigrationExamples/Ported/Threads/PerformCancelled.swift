public import MigrationExamplesSupport

extension Ported {
    /// Searches only for the last of many texts that are typed in quick succession.
    public static func performCancelled(_ input: RecipeInput) async throws -> RecipeResult {
        // region: perform-cancelled
        let field = await SearchField()
        await field.type(input.files.prefix(5).map(\.name))
        await field.waitForSearch()
        return field.searches.result
        // endregion
    }
}

// region: perform-cancelled-field
/// Searches when nothing was typed for a moment.
@MainActor
private final class SearchField {
    let searches = Journal()
    private var pending: Task<Void, any Error>?

    init() {}

    func type(_ text: String) {
        pending?.cancel()
        pending = Task {
            try await Task.sleep(for: .milliseconds(20))
            try Task.checkCancellation()  // it may have come after the sleep, before this had its turn
            searches.write("searched for \(text)")
        }
    }
}
// endregion

extension SearchField {
    fileprivate func type(_ texts: [String]) {
        for text in texts { type(text) }
    }

    fileprivate func waitForSearch() async {
        _ = await pending?.result
    }
}
