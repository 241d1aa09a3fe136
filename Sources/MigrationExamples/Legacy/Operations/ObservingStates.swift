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
        let unwanted = CountOperation {}
        unwanted.addDependency(count)
        let second = StateObserver(of: unwanted) { if $0 == "cancelled" { journal.write($0) } }
        queue.addOperations([unwanted], waitUntilFinished: false)
        unwanted.cancel()
        queue.addOperation(count)
        hasEnded.wait()
        withExtendedLifetime((observer, second)) {}  // released earlier, they would observe nothing
        return journal.result
        // endregion
    }
}

#if canImport(ObjectiveC)
    // region: observing-states-observer
    /// Calls a handler with "executing", "cancelled" and "finished".
    private final class StateObserver: NSObject {
        private static let names = ["isExecuting": "executing", "isCancelled": "cancelled", "isFinished": "finished"]
        private let operation: CountOperation
        private let onChange: (String) -> Void

        init(of operation: CountOperation, onChange: @escaping (String) -> Void) {
            self.operation = operation
            self.onChange = onChange
            super.init()
            for key in Self.names.keys {
                operation.addObserver(self, forKeyPath: key, options: .new, context: nil)
            }
        }

        deinit {
            for key in Self.names.keys { operation.removeObserver(self, forKeyPath: key) }
        }

        override func observeValue(
            forKeyPath key: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            guard change?[.newKey] as? Bool == true, let name = key.flatMap({ Self.names[$0] }) else { return }
            onChange(name)
        }
    }
// endregion
#else
    /// Where there is no key-value observing, the operation has to tell by itself.
    private final class StateObserver {
        init(of operation: CountOperation, onChange: @escaping (String) -> Void) {
            operation.onChange = onChange
        }
    }
#endif

// `work` is constant, and called once, by the queue.
private final class CountOperation: Operation, @unchecked Sendable {
    private let work: () -> Void

    init(work: @escaping () -> Void) {
        self.work = work
    }

    override func main() { work() }

    #if !canImport(ObjectiveC)
        var onChange: ((String) -> Void)?

        override func start() {
            if !isCancelled { onChange?("executing") }
            super.start()
            onChange?("finished")
        }

        override func cancel() {
            super.cancel()
            onChange?("cancelled")
        }
    #endif
}
