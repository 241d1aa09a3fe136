public import MigrationExamplesSupport
import TaskOperationsExtras

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
    private let latest = LatestOperation(settling: .milliseconds(20))

    init() {}

    func type(_ text: String) {
        latest.start {
            text  // the search
        } deliver: { [searches] _ in
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
        while latest.isRunning { await Task.yield() }
    }
}
