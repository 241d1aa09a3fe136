import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Searches for the last of many texts that are typed at once.
    public static func performCancelled(_ input: RecipeInput) throws -> RecipeResult {
        // region: perform-cancelled
        let field = SearchField()
        for file in input.files.prefix(5) { field.type(file.name) }
        while field.isPending {
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
        }
        return field.searches.result
        // endregion
    }
}

// region: perform-cancelled-field
/// Searches when nothing was typed for a moment. Lives on one thread, which has a run loop.
private final class SearchField {
    let searches = Journal()
    private var timer: Timer?

    var isPending: Bool { timer != nil }

    func type(_ text: String) {
        timer?.invalidate()  // as `cancelPreviousPerformRequests(withTarget:)`
        timer = Timer.scheduledTimer(withTimeInterval: 0.02, repeats: false) { [unowned self] _ in
            searches.write("searched for \(text)")
            timer = nil
        }
    }
}
// endregion
