import Foundation

/// An open file, which is read from its beginning to its end and closed when the reader is released.
public final class FileReader {
    private let file: InputFile
    private let descriptor: CInt
    private var left: Int

    /// The folder was listed a while ago, and the file may be a pipe without a writer by now. So it is opened without
    /// waiting, and its kind is checked again before it is read.
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

    /// The next bytes, as many as are asked for where the file has them; none at its end.
    ///
    /// - Throws: `FileProblem` if they cannot be read.
    public func read(upTo limit: Int) throws -> [UInt8] {
        let wanted = min(limit, left)
        // An array of no capacity is one for the whole process, and its count would be written to all the same.
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
