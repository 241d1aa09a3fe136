public import MigrationExamplesSupport
import TaskOperations

extension Ported {
    /// Downloads the files in chunks, and cancels all remaining downloads in the middle of the largest file.
    public static func cancelledDownloads(_ input: RecipeInput) async throws -> RecipeResult {
        // region: cancelled-downloads
        try await withTaskOperationQueue(name: "downloads", maxConcurrentOperationCount: 3, failures: .ignore) {
            queue in
            // The largest is after the first half of the others, and before the second half.
            let (before, largest, after) = input.filesAroundLargest
            var downloads = before.map { file in (file, queue.addOperation(Download(file: file))) }
            if let largest {
                let download = Download(file: largest) { received in
                    if received * 2 >= largest.chunkCount { queue.cancelAllOperations() }
                }
                let middle = TaskOperation(download, dependencies: downloads.map(\.1))
                let last = after.map { file in (file, TaskOperation(Download(file: file), dependencies: [middle])) }
                downloads += [(largest, middle)] + last
                try queue.addOperations([middle] + last.map(\.1))
            }

            var list = DownloadList()
            for (file, download) in downloads { list.add(file, await download.result) }
            try Task.checkCancellation()
            return list.result
        }
        // endregion
    }
}

// region: cancelled-downloads-operation
/// Checks for cancellation between the chunks.
private struct Download: TaskOperationBody {
    let file: InputFile
    var onChunk: @Sendable (Int) -> Void = { _ in }

    func main() async throws -> Digest {
        var hasher = SHA256()
        var received = 0
        let reader = try file.open()
        while true {
            let chunk = try reader.read(upTo: InputFile.chunkSize)
            if chunk.isEmpty { return hasher.finalize() }
            hasher.update(chunk)
            received += 1
            onChunk(received)
            if Task.isCancelled { throw DownloadStopped(afterChunks: received) }
        }
    }
}
// endregion
