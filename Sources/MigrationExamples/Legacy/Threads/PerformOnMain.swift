import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Shows a count at once, and a sum when it is computed.
    public static func performOnMain(_ input: RecipeInput) throws -> RecipeResult {
        // region: perform-on-main
        let label = Label()
        runOnMain(waitUntilDone: false) { label.show("\(input.files.count) files") }
        let bytes = input.files.reduce(0) { $0 + $1.size }
        runOnMain(waitUntilDone: true) { label.show("\(bytes) bytes") }
        return DispatchQueue.main.sync { RecipeResult(label.history) }
        // endregion
    }
}

// region: perform-on-main-function
/// `performSelector(onMainThread:with:waitUntilDone:)` for a closure.
private func runOnMain(waitUntilDone: Bool, _ block: @escaping () -> Void) {
    if !waitUntilDone {
        DispatchQueue.main.async(execute: block)
    } else if Thread.isMainThread {
        block()  // to wait for oneself would never end
    } else {
        DispatchQueue.main.sync(execute: block)
    }
}

private final class Label {
    private(set) var history = ""

    func show(_ text: String) {
        dispatchPrecondition(condition: .onQueue(.main))
        history += "[\(text)]"
    }
}
// endregion
