import Foundation

/// An open file that is read sequentially. It is closed when the reader is released.
public final class FileReader {
    private let file: InputFile
    private let descriptor: CInt
    private var left: Int

    /// Opens the file without blocking, and checks its kind again. Since the folder was listed, the file may have been
    /// replaced, for example by a pipe without a writer.
    init(_ file: InputFile) throws {
        descriptor = file.path.withCString { Foundation.open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }
        self.file = file
        left = file.size
        if descriptor < 0 { throw FileProblem(file.path, errno: errno) }
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw FileProblem(file.path, errno: errno) }
        if let reason = EntryKind(status).reasonNotToRead { throw FileProblem(file.path, reason) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the next `limit` bytes, or fewer if the file has fewer left; none at its end.
    ///
    /// - Throws: `FileProblem` if they cannot be read.
    public func read(upTo limit: Int) throws -> [UInt8] {
        let wanted = min(limit, left)
        // Returns early, because all empty arrays share one object, and the initializer would write its count
        // nevertheless.
        if wanted == 0 { return [] }
        return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            while count < wanted {
                let got = Foundation.read(descriptor, buffer.baseAddress! + count, wanted - count)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { throw FileProblem(file.path, errno: errno) }
                if got == 0 { break }
                count += got
            }
            left -= count
        }
    }
}
