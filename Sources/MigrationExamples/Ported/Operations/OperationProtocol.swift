public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Treats all operations alike through a custom protocol.
    public static func operationProtocol(_ input: RecipeInput) async throws -> RecipeResult {
        // region: operation-protocol
        try await withTaskOperationQueue { queue in
            let count = queue.addOperation(name: "count") { input.sample.reduce(0) { $0 + $1.lineCount() } }
            let unwanted = TaskOperation(name: "unwanted") {}
            unwanted.cancel()
            let lines = try await count.value
            try Task.checkCancellation()
            let reporting: [any Reporting] = [count, unwanted]
            return RecipeResult((reporting.map(\.report) + ["\(lines) lines"]).joined(separator: ", "))
        }
        // endregion
    }
}

// region: operation-protocol-extension
private protocol Reporting {
    var report: String { get }
}

extension AnyTaskOperation: Reporting {
    fileprivate var report: String { "\(name ?? "?") \(isCancelled ? "cancelled" : "finished")" }
}
// endregion
