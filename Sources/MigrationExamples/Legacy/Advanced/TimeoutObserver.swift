import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Waits for answers, one of which never arrives.
    public static func timeoutObserver(_ input: RecipeInput) throws -> RecipeResult {
        // region: timeout-observer
        let queue = AdvancedQueue()
        let stuck = AnswerOperation(for: nil)
        stuck.observers = [TimeoutObserver(0.02)]
        let answers = input.sample.map { file in
            let answer = AnswerOperation(for: file)
            answer.observers = [TimeoutObserver(600)]
            return answer
        }
        for operation in answers + [stuck] { queue.add(operation) }
        queue.waitUntilAllOperationsAreFinished()
        let inTime = answers.filter(\.errors.isEmpty).count
        let late = stuck.errors.filter { $0 is TimeoutError }.count
        return RecipeResult("\(inTime) in time, \(late) late")
        // endregion
    }
}

// region: timeout-observer-type
private struct TimeoutError: Error {}

private struct TimeoutObserver: AdvancedObserver {
    let limit: TimeInterval

    init(_ limit: TimeInterval) {
        self.limit = limit
    }

    func didStart(_ operation: AdvancedOperation) {
        // The timer stays, and keeps the operation weakly, until the limit is over.
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak operation] in
            guard let operation, !operation.isFinished, !operation.isCancelled else { return }
            operation.cancel(with: TimeoutError())
        }
    }
}

/// Ends when the answer arrives, or when it is cancelled.
private final class AnswerOperation: AdvancedOperation, @unchecked Sendable {
    private let file: InputFile?

    init(for file: InputFile?) {
        self.file = file
    }

    override func execute() {
        if file != nil { finish() }
        if isCancelled { finish() }
    }

    override func cancel() {
        super.cancel()
        if isExecuting { finish() }
    }
}
// endregion
