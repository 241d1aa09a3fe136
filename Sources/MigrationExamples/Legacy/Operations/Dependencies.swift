import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts files, then adds their sizes up, then reports both: each step after the one before.
    public static func dependencies(_ input: RecipeInput) throws -> RecipeResult {
        // region: dependencies
        let queue = OperationQueue()
        let (journal, changes) = (Journal(), SharedCount())
        let count = Step(changes) { journal.write("\(input.files.count) files") }
        let add = Step(changes) { journal.write("\(input.files.reduce(0) { $0 + $1.size }) bytes") }
        let report = Step(changes) { journal.write("after \(journal.lines.count) steps") }
        add.addDependency(count)
        report.addDependency(add)
        let draft = Step(changes) {}  // is never added
        draft.addDependency(report)
        draft.removeDependency(report)
        queue.addOperations([report, add, count], waitUntilFinished: true)
        journal.write("\(changes.total) changes, \(draft.dependencies.count) left")
        return journal.result
        // endregion
    }
}

// region: dependencies-overridden
/// A class that overrides these methods has to notify the observers of `dependencies`.
private final class Step: Operation, @unchecked Sendable {
    private let changes: SharedCount
    private let block: () -> Void

    init(_ changes: SharedCount, _ block: @escaping () -> Void) {
        self.changes = changes
        self.block = block
    }

    override func main() { block() }

    override func addDependency(_ operation: Operation) {
        willChangeValue(forKey: "dependencies")
        super.addDependency(operation)
        didChangeValue(forKey: "dependencies")
        changes.add(1)
    }

    override func removeDependency(_ operation: Operation) {
        willChangeValue(forKey: "dependencies")
        super.removeDependency(operation)
        didChangeValue(forKey: "dependencies")
        changes.add(1)
    }
}
// endregion
