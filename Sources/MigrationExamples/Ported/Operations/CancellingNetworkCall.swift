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
        let (ends, end) = AsyncStream.makeStream(of: AnyTaskOperation.self)
        for load in loads { load.addCompletionHandler { _ in end.yield(load) } }
        try queue.addOperations(loads)
        for load in loads.dropLast() { try await load.waitUntilFinished() }
        queue.cancelAllOperations()
        var told = 0
        for await load in ends.prefix(loads.count) where load.isCancelled { told += 1 }

        let loaded = loads.filter { (try? $0.outcome?.get()) != nil }.count
        let cancelled = loads.filter(\.isCancelled).count
        return RecipeResult("\(loaded) loaded, \(cancelled) cancelled, \(told) told")
        // endregion
    }
}
