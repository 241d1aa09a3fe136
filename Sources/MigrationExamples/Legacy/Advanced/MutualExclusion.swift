import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads files on two queues; those of one category one at a time.
    public static func mutualExclusion(_ input: RecipeInput) throws -> RecipeResult {
        // region: mutual-exclusion
        let queues = [OperationQueue(), OperationQueue()]
        let controller = ExclusivityController()
        let meters = ["odd": WorkMeter(), "even": WorkMeter()]
        let lines = SharedCount()
        for (number, file) in input.sample.enumerated() {
            let category = number % 4 < 2 ? "even" : "odd"
            let operation = BlockOperation { meters[category]!.measure { lines.add(file.lineCount()) } }
            controller.add(operation, category)
            queues[number % 2].addOperation(operation)
        }
        queues.forEach { $0.waitUntilAllOperationsAreFinished() }
        let most = meters.values.map(\.most).max() ?? 0
        return RecipeResult("\(lines.total) lines, at most \(most) of a category at once")
        // endregion
    }
}

// region: mutual-exclusion-controller
/// Makes each operation of a category depend on the one before it, on any queue.
private final class ExclusivityController: @unchecked Sendable {
    private let lock = NSLock()
    private var last: [String: Operation] = [:]  // it keeps them, finished or not

    func add(_ operation: Operation, _ category: String) {
        lock.withLock {
            if let former = last[category] { operation.addDependency(former) }
            last[category] = operation
        }
    }
}
// endregion
