import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Watches the start and the end of operations.
    public static func blockObserver(_ input: RecipeInput) throws -> RecipeResult {
        // region: block-observer
        let queue = AdvancedQueue()
        let (starts, ends, failures) = (SharedCount(), SharedCount(), SharedCount())
        for file in input.sample {
            let operation = AdvancedBlockOperation { _ in _ = try file.text() }
            operation.observers = [
                BlockObserver(
                    start: { _ in starts.add(1) },
                    finish: { operation in
                        ends.add(1)
                        failures.add(operation.errors.count)
                    })
            ]
            queue.add(operation)
        }
        queue.waitUntilAllOperationsAreFinished()
        return RecipeResult("\(starts.total) started, \(ends.total) finished, \(failures.total) failed")
        // endregion
    }
}

// region: block-observer-type
private struct BlockObserver: AdvancedObserver {
    let start: (AdvancedOperation) -> Void
    let finish: (AdvancedOperation) -> Void

    func didStart(_ operation: AdvancedOperation) { start(operation) }
    func didFinish(_ operation: AdvancedOperation) { finish(operation) }
}
// endregion
