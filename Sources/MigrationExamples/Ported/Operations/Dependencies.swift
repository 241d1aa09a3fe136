public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts files, then adds up their sizes, and then reports both. Each step depends on the previous one.
    public static func dependencies(_ input: RecipeInput) async throws -> RecipeResult {
        // region: dependencies
        let (journal, changes) = (Journal(), SharedCount())
        try await withTaskOperationQueue { queue in
            let count = TaskOperation(name: "count") { journal.write("\(input.files.count) files") }
            let add = TaskOperation(name: "add") { journal.write("\(input.files.reduce(0) { $0 + $1.size }) bytes") }
            let report = TaskOperation(name: "report") { journal.write("after \(journal.lines.count) steps") }
            try add.addDependency(count, noting: changes)
            try report.addDependency(add, noting: changes)
            let draft = TaskOperation(name: "draft") {}  // is never added
            try draft.addDependency(report, noting: changes)
            try draft.removeDependency(report, noting: changes)
            try queue.addOperations([report, add, count])
            try await report.value
            journal.write("\(changes.total) changes, \(draft.dependencies.count) left")
        }
        try Task.checkCancellation()
        return journal.result
        // endregion
    }
}

// region: dependencies-noted
extension AnyTaskOperation {
    /// No body overrides `addDependency`. Code that has to know of each change calls this function instead.
    fileprivate func addDependency(_ operation: AnyTaskOperation, noting changes: SharedCount) throws {
        try addDependency(operation)
        changes.add(1)
    }

    fileprivate func removeDependency(_ operation: AnyTaskOperation, noting changes: SharedCount) throws {
        try removeDependency(operation)
        changes.add(1)
    }
}
// endregion
