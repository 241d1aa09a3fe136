// The parts that both sides of the recipe with the cancelled downloads share.

extension RecipeInput {
    /// The largest file, the first half of the others, and their second half.
    public var filesAroundLargest: (before: [InputFile], largest: InputFile?, after: [InputFile]) {
        var others = files
        guard let index = files.indices.max(by: { files[$0].size < files[$1].size }) else { return ([], nil, []) }
        let largest = others.remove(at: index)
        let middle = others.count / 2
        return (Array(others[..<middle]), largest, Array(others[middle...]))
    }
}

extension InputFile {
    /// How many bytes arrive at a time.
    public static var chunkSize: Int { 4096 }

    /// In how many chunks the file arrives.
    public var chunkCount: Int { (size + Self.chunkSize - 1) / Self.chunkSize }
}

/// A download was cancelled on its way.
public struct DownloadStopped: Error {
    /// How many chunks had arrived.
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

    /// The downloads that came to an end, those that stopped on their way, and those that never began.
    public var result: RecipeResult {
        let stops = stopped.map { ", stopped after \($0.chunks) of \($0.of) chunks" }.sorted().joined()
        let downloaded = digests.result
        return RecipeResult("\(notStarted) not started\(stops), \(downloaded.text)", unreadable: downloaded.unreadable)
    }
}
