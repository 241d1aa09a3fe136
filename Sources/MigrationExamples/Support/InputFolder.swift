/// A snapshot of the folder that the recipes process.
public struct InputFolder: Sendable {
    /// The path as the user specified it.
    public let path: String
    /// Every file in the folder and its subfolders, in the byte order of their paths.
    public let files: [InputFile]
    /// The entries that could not be listed or are not files.
    public let problems: [FileProblem]

    /// Lists a folder and its subfolders. The listing follows links to files but not links to subfolders, so it ends
    /// even if links form a loop.
    ///
    /// - Throws: `FileProblem` if the folder itself cannot be listed, `CancellationError` if the task is
    ///   cancelled meanwhile.
    public init(listing path: String) throws {
        var listing = FolderListing(of: PathBytes(path))
        try listing.run()
        self.path = listing.root.shown
        files = listing.files.sorted { $0.precedes($1) }
        problems = listing.problems.sorted { $0.path < $1.path }
    }

    /// Whether a file has changed since the folder was listed. Reads the properties of all files.
    public var hasChanged: Bool { files.contains(where: \.hasChanged) }

    /// The total size of all files in bytes.
    public var size: Int { files.reduce(0) { $0 + $1.size } }
}

extension InputFolder {
    /// Reads all files once, so that the time of the first side does not include reading from the disk. Ends early if
    /// the task is cancelled.
    public func warmUp() {
        for file in files {
            guard !Task.isCancelled, let reader = try? file.open() else { continue }
            while !Task.isCancelled, let piece = try? reader.read(upTo: 1 << 20), !piece.isEmpty {}
        }
    }
}
