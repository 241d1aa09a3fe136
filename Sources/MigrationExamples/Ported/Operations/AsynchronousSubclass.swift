public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Loads files through a client with completion handlers, four at a time.
    public static func asynchronousSubclass(_ input: RecipeInput) async throws -> RecipeResult {
        // region: asynchronous-subclass
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let client = FileClient()
        let loads = input.sample.map { file in
            TaskOperation<[UInt8]>(
                .name(file.name),
                callback: { completion in
                    client.load(file) { completion($0) }
                })
        }
        try queue.addOperations(loads)

        var contents: [[UInt8]] = []
        for load in loads {
            if let bytes = try? await load.value { contents.append(bytes) }
        }
        // endregion
        // region: asynchronous-subclass-thread
        let threads = TaskOperationQueue(.init(executor: BlockingExecutor(maxThreadCount: 4)))
        let counts = input.sample.prefix(3).map { file in threads.addOperation { file.lineCount() } }
        var lines = 0
        for count in counts { lines += try await count.value }
        // endregion
        return RecipeResult(
            "\(contents.count) loaded, \(contents.reduce(0) { $0 + $1.count }) bytes, \(lines) lines")
    }
}
