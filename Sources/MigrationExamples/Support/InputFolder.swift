/// The folder that recipes work on, as it was when it was listed.
public struct InputFolder: Sendable {
    /// The path as it was given, for people to read.
    public let path: String
    /// Every file in it and in the folders below, in the order of the bytes of their paths.
    public let files: [InputFile]
    /// The entries that could not be listed, or are no files.
    public let problems: [FileProblem]

    /// Lists a folder and the folders below it. Links to files are followed, links to folders below it are not, so
    /// that a loop of links ends nowhere.
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

    /// How many bytes all the files have.
    public var size: Int { files.reduce(0) { $0 + $1.size } }
}

extension InputFolder {
    /// Reads everything once, so that the side that happens to run first does not pay for the disk. Ends early
    /// where the task is cancelled.
    public func warmUp() {
        for file in files {
            guard !Task.isCancelled, let reader = try? file.open() else { continue }
            while !Task.isCancelled, let piece = try? reader.read(upTo: 1 << 20), !piece.isEmpty {}
        }
    }
}
