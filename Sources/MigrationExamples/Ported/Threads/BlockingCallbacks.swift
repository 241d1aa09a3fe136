import Dispatch
public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Calls the callbacks of a library's users on a separate thread, because they may block.
    public static func blockingCallbacks(_ input: RecipeInput) async throws -> RecipeResult {
        // region: blocking-callbacks
        let (bytes, isAnswered) = (SharedCount(), DispatchSemaphore(value: 0))
        let watcher = Watcher { file in
            DispatchQueue.global().async { isAnswered.signal() }
            isAnswered.wait()  // a user's code: it may block
            bytes.add(file.size)
        }
        for file in input.files.prefix(20) { watcher.report(file) }
        try await watcher.allAreTold()
        return RecipeResult("\(bytes.total) bytes")
        // endregion
    }
}

// region: blocking-callbacks-library
private struct Watcher: Sendable {
    private let onChange: @Sendable (InputFile) -> Void
    // No scope: the queue belongs to the library, and a user learns of each report even if the reporter is cancelled.
    private let callbacks = TaskOperationQueue(
        .init(maxConcurrentOperationCount: 1, executor: BlockingExecutor(name: "callbacks", maxThreadCount: 1)))

    init(_ onChange: @escaping @Sendable (InputFile) -> Void) {
        self.onChange = onChange
    }

    func report(_ file: InputFile) {
        callbacks.addOperation { [onChange] in onChange(file) }
    }

    func allAreTold() async throws { try await callbacks.waitUntilAllOperationsAreFinished() }
}
// endregion
