public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Counts files, then adds up their sizes, and then reports both. Each step depends on the previous one.
    public static func dependencies(_ input: RecipeInput) async throws -> RecipeResult {
        // region: dependencies
        let queue = TaskOperationQueue()
        let journal = Journal()
        let count = TaskOperation(name: "count") { journal.write("\(input.files.count) files") }
        let add = TaskOperation(name: "add") { journal.write("\(input.files.reduce(0) { $0 + $1.size }) bytes") }
        let report = TaskOperation(name: "report") { journal.write("after \(journal.lines.count) steps") }
        try add.addDependency(count)
        try report.addDependency(add)
        let upload = TaskOperation(name: "upload") {}  // is never added, and so never ends
        try report.addDependency(upload)
        try report.removeDependency(upload)
        try queue.addOperations([report, add, count])
        try await queue.waitUntilAllOperationsAreFinished()
        return journal.result
        // endregion
    }
}
