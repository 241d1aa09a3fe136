import Foundation

/// A file of the folder that the recipes process.
public struct InputFile: Hashable, Sendable {
    /// The path within the folder, in a readable form.
    public var name: String { relativePath.shown }
    /// The size in bytes when the folder was listed. No more bytes are read, so both sides of a recipe get the same
    /// bytes even if the file grows.
    public let size: Int

    let lastChange: LastChange
    let path: PathBytes
    let relativePath: PathBytes

    init(_ status: stat, path: PathBytes, relativePath: PathBytes) {
        size = Int(status.st_size)
        lastChange = LastChange(status)
        self.path = path
        self.relativePath = relativePath
    }

    /// Whether the file precedes another one in the byte order of their paths.
    func precedes(_ other: InputFile) -> Bool {
        relativePath.bytes.lexicographicallyPrecedes(other.relativePath.bytes)
    }

    /// Whether the file has changed since the folder was listed.
    var hasChanged: Bool {
        var status = stat()
        return path.withCString { stat($0, &status) } != 0 || LastChange(status) != lastChange
    }

    /// Opens the file.
    ///
    /// - Throws: `FileProblem` if it cannot be opened.
    public func open() throws -> FileReader {
        try FileReader(self)
    }

    /// Reads the file up to a limit.
    ///
    /// - Throws: `FileProblem` if it cannot be read.
    public func contents(upTo limit: Int = .max) throws -> [UInt8] {
        try open().read(upTo: limit)
    }

    /// Reads the file piece by piece.
    ///
    /// - Parameter isCancelled: Called before each piece. The default checks the current task.
    /// - Throws: `FileProblem` if the file cannot be read, `CancellationError` if `isCancelled` returned true.
    public func digest(isCancelled: () -> Bool = { Task.isCancelled }) throws -> Digest {
        var hasher = SHA256()
        let reader = try open()
        while true {
            if isCancelled() { throw CancellationError() }
            let piece = try reader.read(upTo: 256 * 1024)
            if piece.isEmpty { return hasher.finalize() }
            hasher.update(piece)
        }
    }
}

/// The properties of a file that change when the file is written.
struct LastChange: Hashable, Sendable {
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        size = Int(status.st_size)
        seconds = Int(time.tv_sec)
        nanoseconds = Int(time.tv_nsec)
    }
}
