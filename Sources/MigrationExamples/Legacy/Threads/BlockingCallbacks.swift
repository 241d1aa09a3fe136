import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Calls the callbacks of a library's users on a queue of its own, because they may block.
    public static func blockingCallbacks(_ input: RecipeInput) throws -> RecipeResult {
        // region: blocking-callbacks
        let watcher = Watcher()
        let (bytes, isAnswered) = (SharedCount(), DispatchSemaphore(value: 0))
        watcher.onChange = { file in
            DispatchQueue.global().async { isAnswered.signal() }
            isAnswered.wait()  // a user's code: it may block
            bytes.add(file.size)
        }
        for file in input.files.prefix(20) { watcher.report(file) }
        watcher.waitUntilAllAreTold()
        return RecipeResult("\(bytes.total) bytes")
        // endregion
    }
}

// region: blocking-callbacks-library
private final class Watcher: @unchecked Sendable {
    var onChange: @Sendable (InputFile) -> Void = { _ in }  // set before the first report
    private let callbacks = DispatchQueue(label: "callbacks")

    func report(_ file: InputFile) {
        callbacks.async { [onChange] in onChange(file) }
    }

    func waitUntilAllAreTold() { callbacks.sync {} }
}
// endregion
