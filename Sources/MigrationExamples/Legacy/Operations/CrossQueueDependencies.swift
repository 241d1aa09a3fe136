import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads on one queue and counts on another, each with its own width.
    public static func crossQueueDependencies(_ input: RecipeInput) throws -> RecipeResult {
        // region: cross-queue-dependencies
        let disk = OperationQueue()
        disk.maxConcurrentOperationCount = 1
        let processor = OperationQueue()
        let lines = SharedCount()

        let report = BlockOperation()
        for file in input.sample {
            let read = ReadOperation(file)
            let count = BlockOperation { lines.add(read.bytes.lineCount) }
            count.addDependency(read)
            report.addDependency(count)
            processor.addOperation(count)
            disk.addOperation(read)
        }
        let journal = Journal()
        report.addExecutionBlock { journal.write("\(lines.total) lines") }
        disk.addOperation(report)
        report.waitUntilFinished()
        return journal.result
        // endregion
    }
}

// region: cross-queue-dependencies-operation
// `bytes` is written by `main`, and read only by dependents of this.
private final class ReadOperation: Operation, @unchecked Sendable {
    private let file: InputFile
    private(set) var bytes: [UInt8] = []

    init(_ file: InputFile) {
        self.file = file
    }

    override func main() {
        bytes = (try? file.contents(upTo: InputFile.sampleSize)) ?? []
    }
}
// endregion
