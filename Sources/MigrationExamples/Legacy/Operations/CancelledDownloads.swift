import Foundation
import MigrationExamplesSupport

extension Legacy {
    /// Downloads the files in chunks, and cancels all that is left in the middle of the largest.
    public static func cancelledDownloads(_ input: RecipeInput) throws -> RecipeResult {
        // region: cancelled-downloads
        let queue = OperationQueue()
        queue.name = "downloads"
        queue.maxConcurrentOperationCount = 3

        // The largest is after the first half of the others, and before the second half.
        let (before, largest, after) = input.filesAroundLargest
        let first = before.map { DownloadOperation($0) }
        let middle = largest.map { DownloadOperation($0) }
        let last = after.map { DownloadOperation($0) }
        for operation in first { middle?.addDependency(operation) }
        for operation in last { operation.addDependency(middle!) }
        middle?.onChunk = { received in
            if received * 2 >= largest!.chunkCount { queue.cancelAllOperations() }
        }

        let downloads = first + (middle.map { [$0] } ?? []) + last
        queue.addOperations(downloads, waitUntilFinished: false)
        input.cancellation.onCancel { queue.cancelAllOperations() }
        queue.waitUntilAllOperationsAreFinished()
        try input.cancellation.check()
        var list = DownloadList()
        for download in downloads { list.add(download.file, download.outcome) }
        return list.result
        // endregion
    }
}

// region: cancelled-downloads-operation
/// Checks for cancellation between the chunks. `Operation` knows of no result and no error, so it keeps its own.
private final class DownloadOperation: Operation, @unchecked Sendable {
    let file: InputFile
    var onChunk: ((Int) -> Void)?
    private(set) var outcome: Result<Digest, Error> = .failure(CancellationError())

    init(_ file: InputFile) {
        self.file = file
    }

    override func main() {
        outcome = Result { try download() }
    }

    private func download() throws -> Digest {
        var hasher = SHA256()
        var received = 0
        let reader = try file.open()
        while true {
            let chunk = try reader.read(upTo: InputFile.chunkSize)
            if chunk.isEmpty { return hasher.finalize() }
            hasher.update(chunk)
            received += 1
            onChunk?(received)
            if isCancelled { throw DownloadStopped(afterChunks: received) }
        }
    }
}
// endregion
