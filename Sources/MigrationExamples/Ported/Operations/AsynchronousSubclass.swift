public import MigrationExamplesSupport
import TaskOperations
import TaskOperationsExtras

extension Ported {
    /// Loads files through a client with completion handlers, four at a time.
    public static func asynchronousSubclass(_ input: RecipeInput) async throws -> RecipeResult {
        // region: asynchronous-subclass
        let contents = try await withTaskOperationQueue(maxConcurrentOperationCount: 4, failures: .ignore) { queue in
            let client = FileClient()
            let loads = input.sample.map { file in
                TaskOperation<[UInt8]>(
                    name: file.name,
                    callback: { completion in
                        let request = client.load(file) { completion($0) }
                        completion.onCancel { _ in request.cancel() }
                    })
            }
            try queue.addOperations(loads)

            var contents: [[UInt8]] = []
            for load in loads {
                if let bytes = try? await load.value { contents.append(bytes) }
            }
            try Task.checkCancellation()
            return contents
        }
        // endregion
        let lines = try await linesOnThreads(of: input.sample.prefix(3))
        return RecipeResult(
            "\(contents.count) loaded, \(contents.reduce(0) { $0 + $1.count }) bytes, \(lines) lines")
    }
}

// region: asynchronous-subclass-thread
/// The width is that of the executor: with less, threads are idle.
private func linesOnThreads(of files: ArraySlice<InputFile>) async throws -> Int {
    let threads = BlockingExecutor(maxThreadCount: 4)
    return try await withTaskOperationQueue(.init(maxConcurrentOperationCount: 4, executor: threads)) { queue in
        let counts = files.map { file in queue.addOperation { file.lineCount() } }
        var lines = 0
        for count in counts { lines += try await count.value }
        return lines
    }
}
// endregion
