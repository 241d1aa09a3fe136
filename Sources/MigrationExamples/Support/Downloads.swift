// The parts that both sides of the recipe `cancelled-downloads` share.

extension RecipeInput {
    /// The largest file, and the first and the second half of the other files.
    public var filesAroundLargest: (before: [InputFile], largest: InputFile?, after: [InputFile]) {
        var others = files
        guard let index = files.indices.max(by: { files[$0].size < files[$1].size }) else { return ([], nil, []) }
        let largest = others.remove(at: index)
        let middle = others.count / 2
        return (Array(others[..<middle]), largest, Array(others[middle...]))
    }
}

extension InputFile {
    /// The number of bytes in a chunk.
    public static var chunkSize: Int { 4096 }

    /// The number of chunks in the file.
    public var chunkCount: Int { (size + Self.chunkSize - 1) / Self.chunkSize }
}

/// The error of a download that was cancelled after its start.
public struct DownloadStopped: Error {
    /// The number of chunks that had arrived.
    public let chunks: Int

    public init(afterChunks chunks: Int) {
        self.chunks = chunks
    }
}

/// The outcomes of downloads, collected in any order.
public struct DownloadList: Sendable {
    private var digests = DigestList()
    private var stopped: [(chunks: Int, of: Int)] = []
    private var notStarted = 0

    /// Makes an empty list.
    public init() {}

    /// Adds the outcome of the download of a file.
    public mutating func add(_ file: InputFile, _ outcome: Result<Digest, any Error>) {
        switch outcome {
        case .failure(let error as DownloadStopped): stopped.append((error.chunks, file.chunkCount))
        case .failure(is CancellationError): notStarted += 1
        default: digests.add(file, outcome)
        }
    }

    /// The numbers of downloads that did not start, that stopped early and that completed, as a result.
    public var result: RecipeResult {
        let stops = stopped.map { ", stopped after \($0.chunks) of \($0.of) chunks" }.sorted().joined()
        let downloaded = digests.result
        return RecipeResult("\(notStarted) not started\(stops), \(downloaded.text)", unreadable: downloaded.unreadable)
    }
}
