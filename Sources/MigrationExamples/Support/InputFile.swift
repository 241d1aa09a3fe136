import Foundation

/// A file of the folder that a recipe works on.
public struct InputFile: Hashable, Sendable {
    /// The path within the folder, for people to read.
    public var name: String { relativePath.shown }
    /// How many bytes it had when the folder was listed. No more than these are read: a file that grows meanwhile
    /// gives both sides of a recipe the same bytes.
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

    /// Whether the file is before another in the order of the bytes of their paths.
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
    /// - Parameter isCancelled: Asked before each piece. Within a task there is nothing to pass.
    /// - Throws: `FileProblem` if the file cannot be read, `CancellationError` if it was cancelled.
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

/// The properties of a file that a write changes.
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
