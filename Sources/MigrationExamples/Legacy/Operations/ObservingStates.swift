import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Learns when an operation starts and ends.
    public static func observingStates(_ input: RecipeInput) throws -> RecipeResult {
        // region: observing-states
        let queue = OperationQueue()
        let journal = Journal()
        let hasEnded = DispatchSemaphore(value: 0)
        let count = CountOperation { journal.write("\(input.files.count) files") }
        let observer = StateObserver(of: count) { state in
            journal.write(state)
            if state == "finished" { hasEnded.signal() }
        }
        queue.addOperation(count)
        hasEnded.wait()
        withExtendedLifetime(observer) {}  // released earlier, it would observe nothing
        return journal.result
        // endregion
    }
}

// region: observing-states-observer
/// Calls a handler with "executing" and "finished".
private final class StateObserver {
    #if canImport(ObjectiveC)
        private let observations: [NSKeyValueObservation]

        init(of operation: CountOperation, onChange: @escaping @Sendable (String) -> Void) {
            observations = [
                operation.observe(\.isExecuting, options: .new) { _, change in
                    if change.newValue == true { onChange("executing") }
                },
                operation.observe(\.isFinished, options: .new) { _, change in
                    if change.newValue == true { onChange("finished") }
                },
            ]
        }
    #else
        init(of operation: CountOperation, onChange: @escaping @Sendable (String) -> Void) {
            operation.onChange = onChange
        }
    #endif
}

private final class CountOperation: Operation, @unchecked Sendable {
    private let work: () -> Void

    init(work: @escaping () -> Void) {
        self.work = work
    }

    override func main() { work() }

    #if !canImport(ObjectiveC)
        /// Where there is no key-value observing, the operation has to tell by itself.
        var onChange: ((String) -> Void)?

        override func start() {
            if !isCancelled { onChange?("executing") }
            super.start()
            onChange?("finished")
        }
    #endif
}
// endregion
