import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Treats all operations alike by a protocol of its own.
    public static func operationProtocol(_ input: RecipeInput) throws -> RecipeResult {
        // region: operation-protocol
        let queue = OperationQueue()
        let lines = SharedCount()
        let count = BlockOperation { input.sample.forEach { lines.add($0.lineCount()) } }
        count.name = "count"
        let unwanted = BlockOperation {}
        unwanted.name = "unwanted"
        unwanted.cancel()
        queue.addOperations([count, unwanted], waitUntilFinished: true)
        let reporting: [Reporting] = [count, unwanted]
        return RecipeResult((reporting.map(\.report) + ["\(lines.total) lines"]).joined(separator: ", "))
        // endregion
    }
}

// region: operation-protocol-extension
private protocol Reporting {
    var report: String { get }
}

extension Operation: Reporting {
    fileprivate var report: String { "\(name ?? "?") \(isCancelled ? "cancelled" : "finished")" }
}
// endregion
