public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Sends files once the network is reachable.
    public static func reachabilityCondition(_ input: RecipeInput) async throws -> RecipeResult {
        // region: reachability-condition
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4) { queue in
            let network = Network()
            let reachable = queue.addOperation(
                name: "network",
                callback: { (done: CompletionHandler<Void>) in
                    network.whenReachable { done() }
                    done.onCancel { $0(throwing: CancellationError()) }
                })
            let uploads = input.sample.map { file in
                queue.addOperation(dependencies: [reachable]) { file.size }
            }
            network.comeBackSoon()
            var bytes = 0
            for upload in uploads { bytes += try await upload.value }
            return RecipeResult("\(uploads.count) sent, \(bytes) bytes")
        }
        // endregion
    }
}
