import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Counts files, then adds their sizes up, then reports both: each step after the one before.
    public static func dependencies(_ input: RecipeInput) throws -> RecipeResult {
        // region: dependencies
        let queue = OperationQueue()
        let journal = Journal()
        let count = BlockOperation { journal.write("\(input.files.count) files") }
        let add = BlockOperation { journal.write("\(input.files.reduce(0) { $0 + $1.size }) bytes") }
        let report = BlockOperation { journal.write("after \(journal.lines.count) steps") }
        add.addDependency(count)
        report.addDependency(add)
        let upload = BlockOperation {}  // is never added, and so never ends
        if hearsOfRemoval {
            report.addDependency(upload)
            report.removeDependency(upload)
        }
        queue.addOperations([report, add, count], waitUntilFinished: true)
        return journal.result
        // endregion
    }

    /// On Linux an operation that loses an unfinished dependency never starts (Swift 6.3).
    private static var hearsOfRemoval: Bool {
        #if canImport(ObjectiveC)
            true
        #else
            false
        #endif
    }
}
