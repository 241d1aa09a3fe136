import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads files and counts their lines, as one operation that others depend on.
    public static func groupOperation(_ input: RecipeInput) throws -> RecipeResult {
        // region: group-operation
        let queue = OperationQueue()
        let (lines, unreadable) = (SharedCount(), SharedCount())
        let group = GroupOperation(width: 4)
        for file in input.sample {
            group.add { group in
                guard let bytes = try? file.contents(upTo: 4096) else { return unreadable.add(1) }
                group.add { _ in lines.add(bytes.lineCount) }
            }
        }
        let report = Journal()
        let last = BlockOperation { report.write("\(lines.total) lines, \(unreadable.total) unreadable") }
        last.addDependency(group)
        queue.addOperations([group, last], waitUntilFinished: true)
        return report.result
        // endregion
    }
}

// region: group-operation-class
/// Finishes when all that was added to it has, also while it ran.
private final class GroupOperation: AdvancedOperation, @unchecked Sendable {
    private let children = OperationQueue()
    private let end = BlockOperation()

    init(width: Int) {
        super.init()
        children.maxConcurrentOperationCount = width
        children.isSuspended = true
        end.completionBlock = { [unowned self] in finish() }
    }

    /// To be called before it is executed, or by one of its blocks.
    func add(_ block: @escaping (GroupOperation) -> Void) {
        let child = BlockOperation { [unowned self] in block(self) }
        end.addDependency(child)
        children.addOperation(child)
    }

    override func execute() {
        children.addOperation(end)
        children.isSuspended = false
    }

    override func cancel() {
        super.cancel()
        children.cancelAllOperations()
    }
}
// endregion
