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

        let numbers = counts.map { $0.result as? Int ?? 0 }
        let summary = InvocationOperation(target: counter, selector: LineCounter.summarize, object: numbers)
        queue.addOperations([summary], waitUntilFinished: true)
        return RecipeResult(summary.result as? String ?? "no summary")
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
    private(set) var result: Any?

    init(target: Target, selector: @escaping Selector, object: Any?) {
        self.target = target
        self.selector = selector
        self.object = object
    }

    override func main() {
        if isCancelled { return }
        result = selector(target)(object)
    }
}

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
