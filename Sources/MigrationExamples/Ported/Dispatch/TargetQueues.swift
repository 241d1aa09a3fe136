public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Runs two sequences of work, each in order. Only one piece of work uses the disk at a time.
    public static func targetQueues(_ input: RecipeInput) async throws -> RecipeResult {
        let meter = WorkMeter()
        // region: target-queues
        let disk = AsyncSemaphore(capacity: 1)
        let (named, sized) = (Journal(), Journal())
        try await withTaskOperationQueue(name: "names", maxConcurrentOperationCount: 1) { names in
            try await withTaskOperationQueue(name: "sizes", maxConcurrentOperationCount: 1) { sizes in
                for file in input.files.prefix(5) {
                    names.addOperation(.limit(disk)) { meter.measure { named.write(file.name) } }
                    sizes.addOperation(.limit(disk)) { meter.measure { sized.write("\(file.size)") } }
                }
            }
        }
        try Task.checkCancellation()
        return RecipeResult("\(meter.most) at once: \(sized.result.text), \(named.result.text)")
        // endregion
    }
}
