/// The digests of many files, collected in any order.
public struct DigestList: Sendable {
    private var digests: [(file: InputFile, digest: Digest, size: Int)] = []
    private var problems: [FileProblem] = []

    /// Makes an empty list.
    public init() {}

    /// Adds the outcome of a file. A cancelled file has neither a digest nor a problem.
    ///
    /// - Parameter size: The number of digested bytes; nil for the whole file.
    public mutating func add(_ file: InputFile, _ outcome: Result<Digest, any Error>, size: Int? = nil) {
        switch outcome {
        case .success(let digest): digests.append((file, digest, size ?? file.size))
        case .failure(let problem as FileProblem): problems.append(problem)
        case .failure(is CancellationError): break
        case .failure(let error): problems.append(FileProblem(file.path, "\(error)"))
        }
    }

    /// The number of digests.
    public var count: Int { digests.count }

    /// The number of files and of their bytes, and a digest of the lines that `sha256sum` prints for the files in the
    /// order of their paths. If the names contain no special characters, this command prints the same digest:
    /// `cd FOLDER && find * -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`.
    public var result: RecipeResult {
        var hasher = SHA256()
        for (file, digest, _) in digests.sorted(by: { $0.file.precedes($1.file) }) {
            hasher.update(Array("\(digest)  ".utf8) + file.relativePath.bytes + [UInt8(ascii: "\n")])
        }
        let bytes = digests.reduce(0) { $0 + $1.size }
        let unreadable = problems.isEmpty ? "" : ", \(problems.count) unreadable"
        return RecipeResult(
            "\(digests.count) files, \(bytes) bytes\(unreadable), sha256 \(hasher.finalize())", unreadable: problems)
    }
}
