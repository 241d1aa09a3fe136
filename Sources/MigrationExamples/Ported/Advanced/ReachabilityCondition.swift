public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Sends files once the network is reachable.
    public static func reachabilityCondition(_ input: RecipeInput) async throws -> RecipeResult {
        // region: reachability-condition
        let (queue, network) = (TaskOperationQueue(maxConcurrentOperationCount: 4), Network())
        let reachable = TaskOperation<Void>(.name("network"), callback: { done in network.whenReachable { done() } })
        try reachable.start()
        let uploads = input.sample.map { file in
            queue.addOperation(dependencies: [reachable]) { file.size }
        }
        network.comeBackSoon()
        var bytes = 0
        for upload in uploads { bytes += try await upload.value }
        return RecipeResult("\(uploads.count) sent, \(bytes) bytes")
        // endregion
    }
}
