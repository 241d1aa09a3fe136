public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Loads files until the user cancels. One of the files never arrives.
    public static func cancellingNetworkCall(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cancelling-network-call
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let client = FileClient(silentFor: input.sample.last)
        let loads = input.sample.map { file in
            TaskOperation<[UInt8]>(
                .name(file.name),
                callback: { completion in
                    let request = client.load(file) { completion($0) }
                    completion.onCancel { _ in request.cancel() }
                })
        }
        try queue.addOperations(loads)
        for load in loads.dropLast() { try await load.waitUntilFinished() }
        queue.cancelAllOperations()
        try await queue.waitUntilAllOperationsAreFinished()

        let loaded = loads.filter { (try? $0.outcome?.get()) != nil }.count
        return RecipeResult("\(loaded) loaded, \(loads.filter(\.isCancelled).count) cancelled")
        // endregion
    }
}
