import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Calls methods of an object with an argument, and uses their results.
    public static func invocationOperation(_ input: RecipeInput) throws -> RecipeResult {
        // region: invocation-operation
        let queue = OperationQueue()
        let counter = LineCounter()
        let counts = input.sample.map { file in
            InvocationOperation(target: counter, selector: LineCounter.countLines, object: file)
        }
        queue.addOperations(counts, waitUntilFinished: true)

        let numbers = try counts.map { try $0.result() as? Int ?? 0 }
        let summary = InvocationOperation(target: counter, selector: LineCounter.summarize, object: numbers)
        let unwanted = InvocationOperation(target: counter, selector: LineCounter.summarize, object: numbers)
        unwanted.cancel()
        queue.addOperations([summary, unwanted], waitUntilFinished: true)
        do {
            _ = try unwanted.result()
        } catch is InvocationCancelled {
            return RecipeResult("\(try summary.result() as? String ?? "no summary"), 1 cancelled")
        }
        return RecipeResult("a result of a cancelled operation")
        // endregion
    }
}

// region: invocation-operation-class
/// Calls a method by its name, as `NSInvocationOperation` did, which Swift does not have.
private final class InvocationOperation<Target: AnyObject>: Operation, @unchecked Sendable {
    typealias Selector = (Target) -> (Any?) -> Any?

    private let target: Target
    private let selector: Selector
    private let object: Any?
    private var value: Any?

    init(target: Target, selector: @escaping Selector, object: Any?) {
        self.target = target
        self.selector = selector
        self.object = object
    }

    override func main() {
        if isCancelled { return }
        value = selector(target)(object)
    }

    /// If the operation was cancelled, `NSInvocationOperation` raises an exception here.
    func result() throws -> Any? {
        if isCancelled { throw InvocationCancelled() }
        return value
    }
}

/// In place of the exception `NSInvocationOperationCancelledException`.
private struct InvocationCancelled: Error {}

private final class LineCounter {
    func countLines(_ object: Any?) -> Any? {
        guard let file = object as? InputFile else { return nil }
        return file.lineCount()
    }

    func summarize(_ object: Any?) -> Any? {
        guard let numbers = object as? [Int] else { return nil }
        return "\(numbers.count) files, \(numbers.reduce(0, +)) lines"
    }
}
// endregion
