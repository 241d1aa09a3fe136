import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Reads and digests files in operations that depend on each other: list → read → digest → merge → report.
    public static func dependencyGraph(_ input: RecipeInput) throws -> RecipeResult {
        // region: dependency-graph
        let queue = OperationQueue()
        queue.name = "graph"
        queue.maxConcurrentOperationCount = 4

        let merge = MergeOperation()
        let report = ReportOperation(of: merge)
        let list = BlockOperation {
            // In one step: each addition by itself looks through all that wait, when the queue is at work.
            var pairs: [Operation] = []
            for file in input.files.sorted(by: { $0.size > $1.size }) {
                let read = ReadOperation(file)
                let digest = DigestOperation(of: read)
                if file.size < 16 * 1024 {
                    read.queuePriority = .high  // or it would hold its urgent digest up
                    digest.queuePriority = .high
                }
                merge.append(digest)
                pairs += [read, digest]
            }
            queue.addOperations(pairs, waitUntilFinished: false)
            if input.cancellation.isCancelled { queue.cancelAllOperations() }  // it may have come before these
        }
        merge.addDependency(list)
        queue.addOperations([list, merge, report], waitUntilFinished: false)
        input.cancellation.onCancel { queue.cancelAllOperations() }
        queue.waitUntilAllOperationsAreFinished()
        try input.cancellation.check()
        return report.result!
        // endregion
    }
}

// region: dependency-graph-operations
// `contents` is set by `main`, and used only by dependents of this.
private final class ReadOperation: Operation, @unchecked Sendable {
    let file: InputFile
    var contents: Result<[UInt8], Error>?

    init(_ file: InputFile) {
        self.file = file
    }

    override func main() {
        contents = Result { try file.contents(upTo: sampleSize) }
    }
}

// `digest` is set by `main`, and read only by dependents of this.
private final class DigestOperation: Operation, @unchecked Sendable {
    let read: ReadOperation
    private(set) var digest: Result<Digest, Error>?

    init(of read: ReadOperation) {
        self.read = read
        super.init()
        addDependency(read)
    }

    override func main() {
        digest = read.contents?.map { SHA256.digest(of: $0) }
        read.contents = nil  // the operations live on until all are finished, the bytes need not
    }
}
// endregion

// `inputs` is filled before this is ready, and `digests` is read only by its dependents.
private final class MergeOperation: Operation, @unchecked Sendable {
    private var inputs: [DigestOperation] = []
    private(set) var digests = DigestList()

    func append(_ input: DigestOperation) {
        inputs.append(input)
        addDependency(input)
    }

    override func main() {
        for input in inputs {
            if let digest = input.digest { digests.add(input.read.file, digest) }
        }
    }
}

// `result` is set by `main`, and read after the queue has finished.
private final class ReportOperation: Operation, @unchecked Sendable {
    private let merge: MergeOperation
    private(set) var result: RecipeResult?

    init(of merge: MergeOperation) {
        self.merge = merge
        super.init()
        addDependency(merge)
    }

    override func main() {
        result = merge.digests.result
    }
}

/// As much of a file as is read, so that a folder of disk images does not fill the memory.
private let sampleSize = 4 * 1024 * 1024
