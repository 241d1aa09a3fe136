import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Adds files without end in sight so that only so many of them wait in the queue.
    public static func batches(_ input: RecipeInput) throws -> RecipeResult {
        // region: batches
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let (waiting, lines) = (SharedCount(), SharedCount())
        for start in stride(from: 0, to: input.sample.count, by: 32) {
            let batch = input.sample[start..<min(start + 32, input.sample.count)].map { file in
                waiting.add(1)
                return BlockOperation {
                    lines.add(file.lineCount())
                    waiting.add(-1)
                }
            }
            queue.addOperations(batch, waitUntilFinished: true)
        }
        return RecipeResult("\(lines.total) lines, \(waiting.most <= 32 ? "32" : "more") at once at most")
        // endregion
    }

    // region: batches-chained
    /// No thread waits: the completion block of the last operation of a batch adds the next batch.
    static func addBatches(
        of files: ArraySlice<InputFile>, to queue: OperationQueue, _ lines: SharedCount, whenDone: @escaping () -> Void
    ) {
        if files.isEmpty { return whenDone() }
        let batch = files.prefix(32).map { file in BlockOperation { lines.add(file.lineCount()) } }
        let last = BlockOperation {}
        for operation in batch { last.addDependency(operation) }
        last.completionBlock = { addBatches(of: files.dropFirst(32), to: queue, lines, whenDone: whenDone) }
        queue.addOperations(batch + [last], waitUntilFinished: false)
    }
    // endregion
}
