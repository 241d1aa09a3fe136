public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Loads files until the user cancels. One of the files never arrives.
    public static func cancellingNetworkCall(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cancelling-network-call
        try await withTaskOperationQueue(maxConcurrentOperationCount: 4, failures: .ignore) { queue in
            let client = FileClient(silentFor: input.sample.last)
            let loads = input.sample.map { file in
                TaskOperation<[UInt8]>(
                    name: file.name,
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
            try Task.checkCancellation()

            let loaded = loads.filter { (try? $0.outcome?.get()) != nil }.count
            let cancelled = loads.filter(\.isCancelled).count
            return RecipeResult("\(loaded) loaded, \(cancelled) cancelled, \(told) told")
        }
        // endregion
    }
}
