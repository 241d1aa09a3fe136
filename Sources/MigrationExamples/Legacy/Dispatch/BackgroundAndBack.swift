import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Adds the sizes of the files up in the background, and shows the sum on the main queue.
    public static func backgroundAndBack(_ input: RecipeInput) throws -> RecipeResult {
        // region: background-and-back
        let label = Label()
        let isShown = DispatchSemaphore(value: 0)
        DispatchQueue.global(qos: .userInitiated).async {
            let bytes = input.files.reduce(0) { $0 + $1.size }
            DispatchQueue.main.async {
                label.show("\(bytes) bytes")
                isShown.signal()
            }
        }
        isShown.wait()
        return DispatchQueue.main.sync { RecipeResult(label.text) }
        // endregion
    }
}

// region: background-and-back-label
/// The user interface. It belongs to the main thread, which is only checked at run time.
private final class Label {
    private(set) var text = ""

    func show(_ text: String) {
        dispatchPrecondition(condition: .onQueue(.main))
        self.text = text
    }
}
// endregion
